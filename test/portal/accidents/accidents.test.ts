import { env } from 'cloudflare:workers';
import { sendRecordAlerts } from '#src/extras/alerts/records.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { changes } from '#test/extras/changes/support.ts';
import {
  accident,
  addRows,
  as,
  driver,
  issueLimited,
  keepEmails,
  personBefore,
  receiver,
  recordId,
  register,
  safetyEvent,
  settled,
  signIn,
  trip,
  unwoken,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll);
const ann = personBefore(beforeAll, us);
const { page } = ann;
const now = Date.now();
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const first = { sourceId: 'first', vin: 'VIN114', eventTime: minutesAgo(30) };
beforeAll(async () => {
  receiver(
    ({ url }) => new Response('said in private', { status: url.includes('claims') ? 200 : 410 }),
  );
  const hooks = await Promise.all(
    ['claims', 'board'].map((name) => register(us, { url: `https://${name}.example.com/in` })),
  );
  const event = (incident: string, minutes: number, latitude: number) =>
    safetyEvent({
      sourceId: incident,
      startedAt: minutesAgo(minutes),
      incidentTypes: [incident],
      location: { latitude, longitude: -105 },
    });
  await us.send(
    vehicle({ name: 'Truck 114', vin: 'VIN114', licensePlate: 'ZQX 4471' }),
    driver({ name: 'Joss Arden' }),
    trip({
      startedAt: minutesAgo(100),
      driver: 'driver-1',
      distanceKm: 50,
      startLocation: { latitude: 39, longitude: -105 },
    }),
    event('Phone Usage', 40, 39.5),
    event('Smoking', 400, 38),
    event('Idling', 20, 40),
  );
  await us.send(accident(first));
  await us.send(accident({ ...first, notificationLevel: 2 }));
  const reportUrl = 'https://reports.example.com/crash-2';
  const location = { latitude: 40.215, longitude: -77.189, address: 'I-81 N near Carlisle, PA' };
  await us.send(
    accident({ sourceId: 'ready', vin: 'VIN1READY', notificationLevel: 3, reportUrl, location }),
    accident({ sourceId: 'false', vin: 'VIN1FALSE', dismissed: true }),
  );
  for (const { id } of hooks) await settled(id);
});

const vinsOn = async (query: string) =>
  (await page(`/portal/accidents${query}`)).textAt('tbody code').toSorted();
const pathOf = (sourceId: string) =>
  `/accidents/${recordId(us.connection.id, 'accident', sourceId)}`;
/** The page of the accident with this id of the connector's. */
const open = (sourceId: string) => page(`/portal${pathOf(sourceId)}`);
const stored = async (sourceId: string) => (await us.api.get(pathOf(sourceId))).data;

it.each([
  ['', ['VIN114', 'VIN1FALSE', 'VIN1READY']],
  ['?state=open', ['VIN114', 'VIN1READY']],
  ['?state=report', ['VIN1READY']],
  ['?state=false', ['VIN1FALSE']],
])('the list of accidents%s has %o', async (query, vins) => {
  expect(await vinsOn(query)).toEqual(vins);
});

it('an event names its recipients to members, not to viewers', async () => {
  const path = `/portal/events/${recordId(us.connection.id, 'safetyEvent', 'Idling')}`;
  expect((await page(path)).text).toContain('safety@example.com');
  const viewer = await signIn(us, 'viewer');
  expect(await viewer.textAt(path)).not.toContain('safety@example.com');
});

it('accidents of another source find vehicle, driver and events by their VIN', async () => {
  const more = await world('motive', 'samsara');
  const [crashes, telematics] = more.connections;
  const { html: read } = await signIn(more);
  await more.send(
    vehicle({ sourceId: 'x', name: 'From crashes' }),
    accident({ eventTime: minutesAgo(30) }),
  );
  await telematics?.send(
    vehicle({ name: 'From telematics' }),
    driver({ name: 'Robin Vale' }),
    trip({ startedAt: minutesAgo(60), driver: 'driver-1' }),
    safetyEvent({ startedAt: minutesAgo(31), incidentTypes: ['Idling'] }),
  );
  const id = recordId(crashes?.id ?? '', 'accident', 'crash-1');
  expect(await read(`/portal/accidents/${id}`)).toMatch(/Idling[\s\S]*Robin Vale/);
  const [ofVehicle, ofDriver] = [
    recordId(telematics?.id ?? '', 'vehicle', 'truck-1'),
    recordId(telematics?.id ?? '', 'driver', 'driver-1'),
  ];
  const listed = [`vehicle=${ofVehicle}`, `driver=${ofDriver}`, 'vehicle=from+tele', 'level=1'];
  const paths = listed.map((query) => `accidents?${query}`);
  for (const path of [`vehicles/${ofVehicle}`, `drivers/${ofDriver}`, ...paths])
    expect(await read(`/portal/${path}`), path).toContain(`/portal/accidents/${id}`);
  for (const query of ['vehicle=nobody', 'level=2'])
    expect(await read(`/portal/accidents?${query}`)).not.toContain(`/portal/accidents/${id}`);
  // The API has the same filter, and tells a limited token nothing of other connections.
  const limited = as(await issueLimited(more.accountId, [crashes?.id ?? '']));
  const path = `/accidents?driverIds=${ofDriver}`;
  expect((await more.api.get(path)).data).toMatchObject([{ eventId: id }]);
  expect((await limited.get(path)).data).toEqual([]);
});

it('an accident is of the driver that it names, without a trip, and of no other', async () => {
  const more = await world();
  const { html: read } = await signIn(more);
  await more.send(
    vehicle(),
    ...['named', 'on the trip'].map((name) => driver({ sourceId: name, name })),
    trip({ startedAt: minutesAgo(60), driver: 'on the trip' }),
    accident({ eventTime: minutesAgo(30), driver: 'named' }),
    accident({ sourceId: 'alone', vin: 'VIN1ALONE', eventTime: minutesAgo(20), driver: 'named' }),
  );
  const idOf = (kind: string, sourceId: string) => recordId(more.connection.id, kind, sourceId);
  const crashes = ['crash-1', 'alone'].map((sourceId) => idOf('accident', sourceId));
  for (const [name, expected] of [
    ['named', crashes],
    ['on the trip', []],
  ] as const) {
    const id = idOf('driver', name);
    for (const path of [`drivers/${id}`, `accidents.csv?driver=${id}`]) {
      const html = await read(`/portal/${path}`);
      expect(crashes.filter((crash) => html.includes(crash))).toEqual(expected);
    }
    const { data } = await more.api.get<{ eventId: string }[]>(`/accidents?driverIds=${id}`);
    expect(data.map(({ eventId }) => eventId)).toEqual(expected);
  }
});

it('the page of an accident that could be of several vehicles shows none of them', async () => {
  const twin = (sourceId: string) =>
    vehicle({ sourceId, name: `Twin ${sourceId}`, vin: 'VIN1TWIN' });
  await us.send(
    ...[twin('a'), twin('b')],
    accident({ sourceId: 'twins', vin: 'VIN1TWIN', eventTime: minutesAgo(10) }),
    safetyEvent({ sourceId: 'of a twin', vehicle: 'a', startedAt: minutesAgo(11) }),
  );
  const { text } = await open('twins');
  expect(text).toMatch(/VIN1TWIN.*No other safety events/);
  expect(text).not.toContain('Twin ');
});

it('assignee, note and state are one change, and what is entered stays if there is none', async () => {
  await us.send(accident({ sourceId: 'one', vin: 'VIN1ONE', notificationLevel: 3 }));
  const [shown, outdated] = [await open('one'), await open('one')];
  const { resume } = await changes(us.apiToken, 'cursor=now');
  const entered = { 'Assigned to': ann.email, 'Note (optional)': 'Towed to Reno' };
  expect((await shown.press('Acknowledge', entered)).text).toMatch(
    new RegExp(`is acknowledged\\..*Assigned to ${ann.email}.*Towed to Reno`),
  );
  const whole = { assignedTo: ann.email, note: 'Towed to Reno' };
  const acknowledged = { by: ann.email, note: 'Towed to Reno', at: expect.any(String) };
  expect((await changes(us.apiToken, `cursor=${resume}`)).data).toMatchObject([
    { kind: 'accident', data: { ...whole, acknowledged, closed: null } },
  ]);
  // Somebody who saw it before loses nothing, and overwrites nothing.
  const again = await outdated.press('Acknowledge', { 'Note (optional)': 'Called the driver' });
  expect(again.textAt('[autofocus]')[0]).toContain('Nothing was changed');
  expect(again.form('Close').values('note')).toEqual(['Called the driver']);
  const tooLong = await outdated.press('Save', { 'Note (optional)': 'x'.repeat(501) });
  expect(tooLong.text).toContain('can be at most 500 characters');
  await outdated.press('Save');
  expect(await stored('one')).toMatchObject(whole);
});

it('everybody of a large account can be assigned accidents, and find them by that', async () => {
  const them = await world();
  const person = (i: number) => ({
    account_id: them.accountId,
    email: `${i}@x.example`,
    created_at: i,
  });
  await addRows('portal_users', 150, person);
  const newest = await signIn(them);
  await them.send(accident({ sourceId: 'one' }));
  const path = `/portal/accidents/${recordId(them.connection.id, 'accident', 'one')}`;
  expect((await newest.page(path)).textAt('#assignedTo option')).toContain(newest.email);
  const theirs = `/portal/accidents?assignedTo=${encodeURIComponent(newest.email)}`;
  expect((await newest.page(theirs)).textAt('.chips')[0]).toContain(newest.email);
});

it('accidents are found by their person and by being closed, until they are reopened', async () => {
  const press = async (button: string, typed = {}) => (await open('first')).press(button, typed);
  await press('Close', { 'Assigned to': ann.email });
  expect(await vinsOn(`?assignedTo=${encodeURIComponent(ann.email)}&state=closed`)).toEqual([
    'VIN114',
  ]);
  for (const query of ['?assignedTo=nobody', '?state=open'])
    expect(await vinsOn(query)).not.toContain('VIN114');
  expect((await page('/portal/accidents')).text).toContain(`Assigned to ${ann.email}`);
  expect((await press('Save', { 'Assigned to': 'eve@example.com' })).text).toContain(
    'Nothing was changed',
  );
  await press('Reopen', { 'Assigned to': '' });
  expect(await vinsOn('?assignedTo=nobody&state=open')).toContain('VIN114');
});

it('the page of an accident has its levels, recipients, events and way', async () => {
  const { heading, text, textAt, all } = await open('first');
  expect(heading).toBe('Accident, Truck 114');
  expect(textAt('li.done')).toHaveLength(2);
  expect(textAt('li.now[aria-current=step]')).toEqual([expect.stringContaining('Report ready')]);
  for (const words of ['39.73920, −104.99030', 'ZQX 4471', 'VIN114', 'Joss Arden', '50 km'])
    expect(text).toContain(words);
  expect(text).toMatch(/after the accident .*\+\d+ s /);
  const [notified = ''] = textAt('#who-was-notified-now');
  // The path and the query of a receiver may be secrets.
  expect(notified.match(/claims\.example\.com(?!\/)/g)).toHaveLength(2);
  expect(notified).toMatch(/claims.*?Delivered.*?200/);
  expect(notified).toMatch(/board.*?Failed.*?410/);
  expect(notified).not.toContain('said in private');
  const [around] = textAt('.timeline');
  expect(around).toMatch(/Phone Usage.*This accident.*Idling/);
  expect(around).not.toContain('Smoking');
  expect(JSON.parse(all('[data-line]')[0]?.getAttribute('data-line') ?? '[]')).toEqual([
    [-105, 39],
    [-105, 39.5],
    [-104.9903, 39.7392],
  ]);
});

it('the page of an accident leads to the report, or says why there is none', async () => {
  const { path, html, heading, text, links } = await open('ready');
  expect(heading).toBe('VIN1READY, I-81 N near Carlisle, PA');
  expect(text).toContain('40.21500, −77.18900');
  expect(links('Open the report')).toEqual([`${path}/report`]);
  const report = await ann.get(`${path}/report`);
  expect(report.headers.get('location')).toBe('https://reports.example.com/crash-2');
  // On a phone it is acknowledged before one comes to its evidence.
  expect(html).toMatch(/value="acknowledge"[\s\S]*Who was notified/);
  expect((await open('first')).text).toContain('It arrives with level 3');
  expect((await open('false')).text).toMatch(/It was a false alarm.*False alarms have no report/);
});

it('says of each webhook why it was not notified, and which people were emailed when', async () => {
  const them = await world('motive', 'samsara');
  const { page: open, post, email } = await signIn(them);
  keepEmails();
  await post('/portal/settings/notifications', { levels: '1' });
  const other = them.connections[1]?.id;
  const add = (name: string, changes = {}) =>
    register(them, { url: `https://${name}.example.com/`, ...changes });
  const { send } = them.connector;
  await add('elsewhere', { connectionIds: [other] });
  await add('events', { notificationTypes: [2] });
  await add('reports', { filters: { accidentLevels: [3] } });
  await add('told');
  await send(vehicle(), accident());
  await add('late');
  const shown = async () => {
    const [href = ''] = (await open('/portal/accidents')).links('Truck 1');
    return (await open(href)).textAt('#who-was-notified-now')[0];
  };
  await sendRecordAlerts({ ...env, DELIVERIES: unwoken });
  await sendMessages(env);
  const said = await shown();
  for (const reason of [
    'elsewhere.example.com Not notified: it does not cover this connection.',
    'events.example.com Not notified: it does not receive notifications of this type.',
    'reports.example.com Not notified: its filters leave this out.',
    'late.example.com Not notified: it was added later.',
  ])
    expect(said).toContain(reason);
  expect(said).not.toContain('told.example.com Not notified');
  expect(said).toMatch(new RegExp(`${email} Emailed \\d\\d:\\d\\d:\\d\\d`));
  await send(accident({ dismissed: true }));
  await sendRecordAlerts(env);
  expect(await shown()).toContain(`${email} `); // also once they know that it was a false alarm
});
