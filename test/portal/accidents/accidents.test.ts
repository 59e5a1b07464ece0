import { env } from 'cloudflare:workers';
import { sendRecordAlerts } from '#src/extras/alerts/records.ts';
import { sendMessages } from '#src/extras/alerts/sending.ts';
import { settled } from '#test/support/deliveries.ts';
import { keepEmails } from '#test/support/emails.ts';
import { textIn } from '#test/support/page.ts';
import { type Page, personBefore, signIn } from '#test/support/portal.ts';
import { receiver } from '#test/support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { as, issueLimited, register, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
const ann = personBefore(beforeAll, us);
const { page } = ann;
const now = Date.now();
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
beforeAll(async () => {
  receiver(
    ({ url }) => new Response('said in private', { status: url.includes('claims') ? 200 : 410 }),
  );
  const { ingestKey } = us.connection;
  for (const name of ['claims', 'board'])
    await register(us, { url: `https://${name}.example.com/in` });
  await as(ingestKey).send(
    vehicle({ name: 'Truck 114', vin: 'VIN114', licensePlate: 'ZQX 4471' }),
    driver({ name: 'Joss Arden' }),
    trip({
      ...{ startedAt: minutesAgo(100), driver: 'driver-1', distanceKm: 50 },
      startLocation: { latitude: 39, longitude: -105 },
    }),
    safetyEvent({
      ...{ sourceId: 'before', startedAt: minutesAgo(40), incidentTypes: ['Phone Usage'] },
      location: { latitude: 39.5, longitude: -105 },
    }),
    safetyEvent({
      sourceId: 'long before',
      startedAt: minutesAgo(400),
      incidentTypes: ['Smoking'],
    }),
    safetyEvent({
      ...{ sourceId: 'after', startedAt: minutesAgo(20), incidentTypes: ['Idling'] },
      location: { latitude: 40, longitude: -105 },
    }),
  );
  const one = (changes: object) => accident({ eventTime: minutesAgo(30), ...changes });
  await as(ingestKey).send(one({ sourceId: 'first', vin: 'VIN114', notificationLevel: 1 }));
  await as(ingestKey).send(one({ sourceId: 'first', vin: 'VIN114', notificationLevel: 2 }));
  const reportUrl = 'https://reports.example.com/crash-2';
  const location = { latitude: 40.215, longitude: -77.189, address: 'I-81 N near Carlisle, PA' };
  await as(ingestKey).send(
    one({ sourceId: 'ready', vin: 'VIN1READY', notificationLevel: 3, reportUrl, location }),
    one({ sourceId: 'false', vin: 'VIN1FALSE', notificationLevel: 1, dismissed: true }),
  );
  for (const { id } of await rows('select id from webhooks where account_id = ?', us.accountId))
    await settled(String(id));
});

const list = (query = '') => page(`/portal/accidents${query}`);
const vinsOn = async (query: string) => (await list(query)).textAt('tbody code').toSorted();
/** The page of the accident with a VIN. */
async function open(vin: string): Promise<Page> {
  const row = (await list()).all('tbody tr').find((one) => textIn(one).includes(vin));
  return page(row?.querySelector('a.cover')?.getAttribute('href') ?? '');
}

it.each([
  ['', ['VIN114', 'VIN1FALSE', 'VIN1READY']],
  ['?state=open', ['VIN114', 'VIN1READY']],
  ['?state=report', ['VIN1READY']],
  ['?state=false', ['VIN1FALSE']],
])('the list of accidents%s has %o', async (query, vins) => {
  expect(await vinsOn(query)).toEqual(vins);
});

it('an event names its recipients to members, not to viewers', async () => {
  const found = "select id from safety_events where source_id = 'before' and account_id = ?";
  const path = `/portal/events/${await value(found, us.accountId)}`;
  expect((await page(path)).text).toContain('safety@example.com');
  const viewer = await signIn(us, 'viewer');
  expect(await viewer.textAt(path)).not.toContain('safety@example.com');
});

it('accidents of another source find vehicle, driver and events by their VIN', async () => {
  const more = await world({ providers: ['motive', 'samsara'] });
  const [crashes, telematics] = more.connections;
  const { html: read } = await signIn(more);
  await as(crashes?.ingestKey ?? '').send(vehicle({ sourceId: 'x', name: 'From crashes' }));
  await as(crashes?.ingestKey ?? '').send(accident({ eventTime: minutesAgo(30) }));
  await as(telematics?.ingestKey ?? '').send(
    vehicle({ name: 'From telematics' }),
    driver({ name: 'Robin Vale' }),
    trip({ startedAt: minutesAgo(60), driver: 'driver-1' }),
    safetyEvent({ startedAt: minutesAgo(31), incidentTypes: ['Idling'] }),
  );
  const id = await value('select id from accidents where account_id = ?', more.accountId);
  expect(await read(`/portal/accidents/${id}`)).toMatch(/Idling[\s\S]*Robin Vale/);
  const idOf = (table: string, name: string) =>
    value(`select id from ${table} where account_id = ? and name = ?`, more.accountId, name);
  const ofVehicle = await idOf('vehicles', 'From telematics');
  const ofDriver = await idOf('drivers', 'Robin Vale');
  for (const path of [`vehicles/${ofVehicle}`, `drivers/${ofDriver}`])
    expect(await read(`/portal/${path}`)).toContain(`/portal/accidents/${id}`);
  const listed = (query: string) => read(`/portal/accidents?${query}`);
  const shows = expect.stringContaining(`/portal/accidents/${id}`);
  const matching = ['vehicle=from+tele', 'driver=robin', 'level=1'];
  for (const query of [`vehicle=${ofVehicle}`, `driver=${ofDriver}`, ...matching])
    expect(await listed(query), query).toEqual(shows);
  for (const query of ['vehicle=nobody', 'driver=nobody', 'level=2', 'to=2020-01-01'])
    expect(await listed(query), query).not.toEqual(shows);
  expect(await listed('from=nonsense')).toContain('Must be a date');
  // The API has the same filters, and tells a limited token nothing of other connections.
  const limited = as(await issueLimited(more.accountId, [crashes?.id ?? '']));
  for (const query of [`vehicleIds=${ofVehicle}`, `driverIds=${ofDriver}`]) {
    expect((await more.api.get(`/accidents?${query}`)).data).toMatchObject([{ eventId: id }]);
    expect((await limited.get(`/accidents?${query}`)).data).toEqual([]);
  }
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
  const found = 'select id from accidents where account_id = ? and vin = ?';
  const crashes = [
    await value(found, more.accountId, accident().vin),
    await value(found, more.accountId, 'VIN1ALONE'),
  ];
  const shownOn = async (path: string) => {
    const html = await read(path);
    return crashes.map((id) => html.includes(String(id)));
  };
  const listed = async (id: unknown) => {
    const { data } = await more.api.get<{ eventId: string }[]>(`/accidents?driverIds=${id}`);
    return crashes.map((crash) => data.some(({ eventId }) => eventId === crash));
  };
  for (const [name, expected] of [['named', true] as const, ['on the trip', false] as const]) {
    const id = await value(
      'select id from drivers where account_id = ? and name = ?',
      ...[more.accountId, name],
    );
    for (const path of [`drivers/${id}`, `accidents?driver=${id}`, `accidents.csv?driver=${id}`])
      expect([path, await shownOn(`/portal/${path}`)]).toEqual([path, [expected, expected]]);
    expect(await listed(id)).toEqual([expected, expected]);
  }
});

it('the page of an accident that could be of several vehicles shows none of them', async () => {
  const twin = (sourceId: string) =>
    vehicle({ sourceId, name: `Twin ${sourceId}`, vin: 'VIN1TWIN' });
  const eventTime = minutesAgo(10);
  const crash = accident({ sourceId: 'twins', vin: 'VIN1TWIN', eventTime, notificationLevel: 3 });
  await us.send(
    ...[twin('a'), twin('b'), crash],
    safetyEvent({ sourceId: 'of a twin', vehicle: 'a', startedAt: minutesAgo(11) }),
  );
  const { text } = await open('VIN1TWIN');
  expect(text).toMatch(/VIN1TWIN.*No other safety events/);
  expect(text).not.toContain('Twin ');
});

const stored = async () => {
  const { data } = await us.api.get<Record<string, unknown>[]>('/accidents?vin=VIN114');
  return data[0];
};

it('somebody takes care of an accident, for the list, the API and the changes', async () => {
  const { path } = await open('VIN114');
  expect(await stored()).toMatchObject({ acknowledged: null, closed: null });
  const { resume } = (await us.api.get('/changes?cursor=now')) as never as { resume: string };
  const viewer = await signIn(us, 'viewer');
  expect((await viewer.post(path, { do: 'close' })).status).toBe(403);
  for (const note of ['x'.repeat(501), 'a\u0000b', 'a\nb', 'a\u202Eb'])
    expect((await ann.post(path, { do: 'close', note })).status).toBe(400);
  await ann.post(path, { do: 'acknowledge', note: 'Called Joss' });
  await ann.post(path, { do: 'close', note: 'Towed' });
  expect(await stored()).toMatchObject({
    acknowledged: { by: expect.stringContaining('@'), note: 'Called Joss', at: expect.any(String) },
    closed: { note: 'Towed' },
  });
  const { data: changed } = await us.api.get(`/changes?cursor=${resume}`);
  expect(changed).toMatchObject([{ kind: 'accident', data: { closed: { note: 'Towed' } } }]);
  expect(await vinsOn('?state=open')).not.toContain('VIN114');
  expect(await vinsOn('?state=closed')).toEqual(['VIN114']);
  expect((await page(path)).text).toMatch(/Called Joss.*Towed/);
  const again = {
    sourceId: 'first',
    vin: 'VIN114',
    eventTime: minutesAgo(30),
    notificationLevel: 2,
  };
  const { send } = us.connector;
  await send(accident({ ...again, location: { latitude: 1, longitude: 1 } }));
  expect(await stored()).toMatchObject({ closed: { note: 'Towed' } });
  await ann.post(path, { do: 'reopen' });
  expect(await stored()).toMatchObject({ closed: null });
  await send(accident(again));
});

it('an accident is assigned to a person of the account, and found by them', async () => {
  const { path } = await open('VIN114');
  const { email } = ann;
  const assign = async (to: string) => (await page(path)).press('Save', { 'Assigned to': to });
  expect((await assign(email)).text).toContain('The accident is saved.');
  expect((await page(path)).text).toContain(`Assigned to ${email}`);
  const { data } = await us.api.get<{ assignedTo: string }[]>('/accidents?vin=VIN114');
  expect(data[0]?.assignedTo).toBe(email);
  expect(await vinsOn(`?assignedTo=${encodeURIComponent(email)}`)).toEqual(['VIN114']);
  expect(await vinsOn('?assignedTo=nobody')).not.toContain('VIN114');
  await us.send(accident({ sourceId: 'first', vin: 'VIN114', eventTime: minutesAgo(30) }));
  expect((await page('/portal/accidents')).text).toContain(`Assigned to ${email}`);
  expect((await assign('eve@example.com')).text).toContain('Nothing was changed');
  expect((await assign('')).text).toContain('The accident is saved.');
  expect(await vinsOn('?assignedTo=nobody')).toContain('VIN114');
});

it('assignee, note and state are one change, and what is entered stays if there is none', async () => {
  const accidentOf = async (id: string) => (await us.api.get(`/accidents/${id}`)).data;
  await us.send(accident({ sourceId: 'one', vin: 'VIN1ONE', notificationLevel: 3 }));
  const { path } = await open('VIN1ONE');
  const id = path.split('/').at(-1) ?? '';
  expect(await vinsOn('?state=open')).toContain('VIN1ONE');
  const [shown, outdated] = [await page(path), await page(path)];
  const entered = { 'Assigned to': ann.email, 'Note (optional)': 'Towed to Reno' };
  const { resume } = (await us.api.get('/changes?cursor=now')) as never as { resume: string };
  expect((await shown.press('Acknowledge', entered)).text).toContain('is acknowledged.');
  const whole = { assignedTo: ann.email, note: 'Towed to Reno' };
  expect(await accidentOf(id)).toMatchObject({
    ...whole,
    acknowledged: { by: ann.email, note: 'Towed to Reno' },
  });
  expect((await us.api.get(`/changes?cursor=${resume}`)).data).toHaveLength(1);
  expect(await vinsOn('?state=open')).not.toContain('VIN1ONE');
  // Somebody who saw it before loses nothing, and overwrites nothing.
  const again = await outdated.press('Acknowledge', { 'Note (optional)': 'Called the driver' });
  expect(again.text).toContain('Nothing was changed');
  expect(again.form('Close').values('note')).toEqual(['Called the driver']);
  await outdated.press('Save');
  expect(await accidentOf(id)).toMatchObject(whole);
});

it('on a phone an accident is acknowledged and closed before its evidence', async () => {
  const { html } = await open('VIN1READY');
  expect(html.indexOf('value="acknowledge"')).toBeGreaterThan(0);
  expect(html.indexOf('value="acknowledge"')).toBeLessThan(html.indexOf('Who was notified'));
});

it('the page of an accident has its levels, recipients, events and way', async () => {
  const { heading, text, textAt, all } = await open('VIN114');
  expect(heading).toBe('Accident, Truck 114');
  expect(textAt('li.done')).toHaveLength(2);
  expect(textAt('li.now[aria-current=step]')).toEqual([expect.stringContaining('Report ready')]);
  for (const words of ['39.73920, −104.99030', 'ZQX 4471', 'VIN114', 'Joss Arden', '50 km'])
    expect(text).toContain(words);
  expect(text).toMatch(/after the accident .*\+\d+ s /);

  expect(all('#who-was-notified-now tbody')).toHaveLength(2);
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
  const { path, heading, text, links } = await open('VIN1READY');
  expect(heading).toBe('VIN1READY, I-81 N near Carlisle, PA');
  expect(text).toContain('40.21500, −77.18900');
  expect(links('Open the report')).toEqual([`${path}/report`]);
  const report = await ann.get(`${path}/report`);
  expect(report.headers.get('location')).toBe('https://reports.example.com/crash-2');
  expect((await open('VIN114')).text).toContain('It arrives with level 3');
  expect((await open('VIN1FALSE')).text).toMatch(
    /It was a false alarm.*False alarms have no report/,
  );
});

it('says of each webhook why it was not notified, and which people were emailed when', async () => {
  const them = await world({ providers: ['motive', 'samsara'] });
  const { page: open, post, email } = await signIn(them);
  keepEmails();
  await post('/portal/settings/notifications', { levels: '1' });
  const [ours = '', other = ''] = them.connections.map(({ id }) => id);
  const add = (name: string, changes: object) =>
    register(them, { url: `https://${name}.example.com/`, ...changes });
  const { send } = them.connector;
  await add('elsewhere', { connectionIds: [other] });
  await add('events', { notificationTypes: [2] });
  await add('reports', { connectionIds: [ours], filters: { accidentLevels: [3] } });
  await add('told', { notificationTypes: [1] });
  await send(vehicle(), accident());
  await sendRecordAlerts(env);
  await add('late', {});
  const shown = async () => {
    const list = await open('/portal/accidents');
    const crash = await open(list.all('tbody a.cover')[0]?.getAttribute('href') ?? '');
    return crash.textAt('#who-was-notified-now')[0];
  };
  const reasons = [
    'elsewhere.example.com Not notified: it does not cover this connection.',
    'events.example.com Not notified: it does not receive notifications of this type.',
    'reports.example.com Not notified: its filters leave this out.',
    'late.example.com Not notified: it was added later.',
  ];
  const before = await shown();
  for (const reason of reasons) expect(before).toContain(reason);
  expect(before).not.toContain('told.example.com Not notified');
  expect(before).toMatch(new RegExp(`${email} (Waiting to be sent|Emailed)`)); // a job may have sent it
  await sendMessages(env);
  expect(await shown()).toMatch(new RegExp(`${email} Emailed \\d\\d:\\d\\d:\\d\\d`));
  await send(accident({ dismissed: true }));
  await sendRecordAlerts(env);
  expect(await shown()).toContain(`${email} `); // also once they know that it was a false alarm
});
