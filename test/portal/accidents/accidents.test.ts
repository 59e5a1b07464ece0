import { beforeAll, describe, expect, it } from 'vitest';
import { settled } from '../../support/deliveries.ts';
import { ask, signIn, visitor } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, type WebhookOut, webhookBody, world, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeAll);
let cookie: string;
const now = Date.now();
const minutesAgo = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
beforeAll(async () => {
  receiver(({ url }) => new Response('said in private', { status: url.includes('claims') ? 200 : 410 }));
  ({ cookie } = await signIn(us));
  const { ingestKey } = us.connection;
  for (const name of ['claims', 'board'])
    await as(us.apiToken).post<WebhookOut>(
      '/webhook',
      webhookBody(us, { url: `https://${name}.example.com/in` }),
    );
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
    safetyEvent({ sourceId: 'long before', startedAt: minutesAgo(400), incidentTypes: ['Smoking'] }),
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
    one({ sourceId: 'ready', vin: 'VINREADY', notificationLevel: 3, reportUrl, location }),
    one({ sourceId: 'false', vin: 'VINFALSE', notificationLevel: 1, dismissed: true }),
  );
  for (const { id } of await rows('select id from webhooks where account_id = ?', us.accountId))
    await settled(String(id));
});

const { html: get } = visitor(() => cookie);
const linkTo = async (name: string, state = '') =>
  new RegExp(`href="(/portal/accidents/[^"]*)">[^<]*</a>(?:(?!</tr>)[\\s\\S])*${name}`).exec(
    await get(`/portal/accidents${state}`),
  )?.[1] ?? '';
const vinsOn = (html: string) => [...html.matchAll(/<code>(VIN\w+)<\/code>/g)].map(([, vin]) => vin).sort();

describe('the list of accidents', () => {
  it.each([
    ['', ['VIN114', 'VINFALSE', 'VINREADY']],
    ['?state=open', ['VIN114']],
    ['?state=report', ['VINREADY']],
    ['?state=false', ['VINFALSE']],
  ])('%s', async (query, vins) => {
    expect(vinsOn(await get(`/portal/accidents${query}`))).toEqual(vins);
  });
});

it('an event names its recipients to members, not to viewers', async () => {
  const [event] = await rows(
    `select id from safety_events where source_id = 'before' and account_id = ?`,
    us.accountId,
  );
  const path = `/portal/events/${event?.id}`;
  expect(await get(path)).toContain('safety@example.com');
  const viewer = await ask('GET', path, { cookie: (await signIn(us, 'viewer')).cookie });
  expect(await viewer.text()).not.toContain('safety@example.com');
});

describe('accidents of another source', () => {
  it('show its driver and events by their VIN, and are on the pages of the vehicle and the driver', async () => {
    const more = await world({ providers: ['motive', 'samsara'] });
    const [crashes, telematics] = more.connections;
    const { cookie: theirs } = await signIn(more);
    const { html: read } = visitor(() => theirs);
    await as(crashes?.ingestKey ?? '').send(vehicle({ sourceId: 'x', name: 'From crashes' }));
    await as(crashes?.ingestKey ?? '').send(accident({ eventTime: minutesAgo(30) }));
    await as(telematics?.ingestKey ?? '').send(
      vehicle({ name: 'From telematics' }),
      driver({ name: 'Robin Vale' }),
      trip({ startedAt: minutesAgo(60), driver: 'driver-1' }),
      safetyEvent({ startedAt: minutesAgo(31), incidentTypes: ['Idling'] }),
    );
    const [found] = await rows('select id from accidents where account_id = ?', more.accountId);
    expect(await read(`/portal/accidents/${found?.id}`)).toMatch(/Idling[\s\S]*Robin Vale/);
    const idOf = async (table: string, name: string) =>
      (await rows(`select id from ${table} where account_id = ? and name = ?`, more.accountId, name))[0]?.id;
    const ofVehicle = await idOf('vehicles', 'From telematics');
    const ofDriver = await idOf('drivers', 'Robin Vale');
    for (const path of [`vehicles/${ofVehicle}`, `drivers/${ofDriver}`])
      expect(await read(`/portal/${path}`)).toContain(`/portal/accidents/${found?.id}`);
    const list = (query: string) => read(`/portal/accidents?${query}`);
    const shows = expect.stringContaining(`/portal/accidents/${found?.id}`);
    const matching = ['vehicle=from+tele', 'driver=robin', 'level=1'];
    for (const query of [`vehicle=${ofVehicle}`, `driver=${ofDriver}`, ...matching])
      expect(await list(query), query).toEqual(shows);
    for (const query of ['vehicle=nobody', 'driver=nobody', 'level=2', 'to=2020-01-01'])
      expect(await list(query), query).not.toEqual(shows);
    expect(await list('from=nonsense')).toContain('Must be a date');
  });
});

it('the page of an accident that could be of several vehicles shows none of them', async () => {
  const twin = (sourceId: string) => vehicle({ sourceId, name: `Twin ${sourceId}`, vin: 'VINTWIN' });
  const eventTime = minutesAgo(10);
  const crash = accident({ sourceId: 'twins', vin: 'VINTWIN', eventTime, notificationLevel: 3 });
  await as(us.connection.ingestKey).send(
    ...[twin('a'), twin('b'), crash],
    safetyEvent({ sourceId: 'of a twin', vehicle: 'a', startedAt: minutesAgo(11) }),
  );
  const page = await get(await linkTo('VINTWIN'));
  expect(page).toContain('VINTWIN');
  expect(page).not.toContain('Twin ');
  expect(page).toContain('No other safety events');
});

describe('somebody takes care of an accident', () => {
  const handle = (path: string, fields: Record<string, string>, who = cookie) =>
    ask('POST', path, { cookie: who, fields });
  const stored = async () => {
    const { data } = await as(us.apiToken).get<Record<string, unknown>[]>('/accidents?vin=VIN114');
    return data[0];
  };

  it('with a note and in their name, for the list, the API and the change feed', async () => {
    const path = await linkTo('VIN114');
    expect(await stored()).not.toHaveProperty('acknowledged');
    const { resume } = (await as(us.apiToken).get('/changes?cursor=now')) as never as { resume: string };
    const { cookie: viewer } = await signIn(us, 'viewer');
    expect((await handle(path, { do: 'close' }, viewer)).status).toBe(403);
    for (const note of ['x'.repeat(501), 'a\u0000b', 'a\nb', 'a\u202Eb'])
      expect((await handle(path, { do: 'close', note })).status).toBe(400);
    await handle(path, { do: 'acknowledge', note: 'Called Joss' });
    await handle(path, { do: 'close', note: 'Towed' });
    expect(await stored()).toMatchObject({
      acknowledged: { by: expect.stringContaining('@'), note: 'Called Joss', at: expect.any(String) },
      closed: { note: 'Towed' },
    });
    const { data: changed } = await as(us.apiToken).get(`/changes?cursor=${resume}`);
    expect(changed).toMatchObject([{ kind: 'accident', data: { closed: { note: 'Towed' } } }]);
    expect(vinsOn(await get('/portal/accidents?state=open'))).toEqual([]);
    expect(vinsOn(await get('/portal/accidents?state=closed'))).toEqual(['VIN114']);
    expect(await get(path)).toMatch(/Called Joss[\s\S]*Towed/);
    const again = { sourceId: 'first', vin: 'VIN114', eventTime: minutesAgo(30), notificationLevel: 2 };
    const { send } = as(us.connection.ingestKey);
    await send(accident({ ...again, location: { latitude: 1, longitude: 1 } }));
    expect(await stored()).toMatchObject({ closed: { note: 'Towed' } });
    await handle(path, { do: 'reopen' });
    expect(await stored()).not.toHaveProperty('closed');
    await send(accident(again));
  });
});

describe('the page of an accident', () => {
  it('has its levels, who was notified and answered what, the events around it, and the way there', async () => {
    const html = await get(await linkTo('VIN114'));
    expect(html).toContain('Accident, Truck 114');
    expect(html.match(/class="done"/g)).toHaveLength(2);
    expect(html).toMatch(/class="now" aria-current="step">[\s\S]*Report ready/);
    const facts = ['39.73920, −104.99030', 'ZQX 4471', 'VIN114', 'Joss Arden', '50 km'];
    for (const words of facts) expect(html).toContain(words);
    expect(html).toMatch(/after the accident[\s\S]*\+\d+ s</);

    const panel = (id: string) => new RegExp(`id="${id}"[\\s\\S]*?</section>`).exec(html)?.[0] ?? '';
    const notified = panel('notified');
    expect(notified.match(/<tbody>/g)).toHaveLength(2);
    // The path and the query of a receiver may be secrets.
    expect(notified.match(/claims\.example\.com(?!\/)/g)).toHaveLength(2);
    expect(notified).toMatch(/claims[\s\S]*?Delivered[\s\S]*?200/);
    expect(notified).toMatch(/board[\s\S]*?Failed[\s\S]*?410/);
    expect(notified).not.toContain('said in private');
    expect(panel('around')).toMatch(/Phone Usage[\s\S]*This accident[\s\S]*Idling/);
    expect(panel('around')).not.toContain('Smoking');
    const way = /data-line="([^"]*)"/.exec(html)?.[1] ?? '[]';
    expect(JSON.parse(way)).toEqual([
      [-105, 39],
      [-105, 39.5],
      [-104.9903, 39.7392],
    ]);
  });

  it('is called by its place, and leads to the report, or says why there is none', async () => {
    const path = await linkTo('VINREADY');
    const ready = await get(path);
    expect(ready).toContain(`href="${path}/report"`);
    const report = await ask('GET', `${path}/report`, { cookie });
    expect(report.headers.get('location')).toBe('https://reports.example.com/crash-2');
    expect(ready).toMatch(/<h1>VINREADY, I-81 N near Carlisle, PA<\/h1>/);
    expect(ready).toContain('40.21500, −77.18900');
    expect(await get(await linkTo('VIN114'))).toContain('It arrives with level 3');
    const dismissed = await get(await linkTo('VINFALSE'));
    expect(dismissed).toContain('False alarms have no report');
    expect(dismissed).toContain('It was a false alarm');
  });
});
