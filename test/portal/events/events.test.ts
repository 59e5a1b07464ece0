import { beforeAll, describe, expect, it } from 'vitest';
import { safetyEvents } from '../../../src/fleet/lists/safety-events.ts';
import { kindOf, move } from '../../support/archive.ts';
import { ask, signIn, visitor } from '../../support/portal.ts';
import { accident, driver, safetyEvent, trip, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, type World, world } from '../../support/world.ts';

let us: World;
let them: World;
let cookie: string;
const now = Date.now();
const hoursAgo = (hours: number) => new Date(now - hours * 3_600_000).toISOString();
beforeAll(async () => {
  [us, them] = [await world({ providers: ['motive', 'samsara'] }), await world()];
  ({ cookie } = await signIn(us));
  const [motive, samsara] = us.connections;
  const place = { latitude: 40.21502, longitude: -77.18934 };
  await as(motive?.ingestKey ?? '').send(
    vehicle({ name: 'Truck 114', vin: 'VIN114', licensePlate: 'ZQX 4471' }),
    vehicle({ sourceId: 'truck-2', name: 'Truck 2', vin: 'VIN2' }),
    driver({ name: 'Joss Arden' }),
    trip({ startedAt: hoursAgo(3), driver: 'driver-1', distanceKm: 31 }),
    safetyEvent({
      sourceId: 'brake',
      startedAt: hoursAgo(2),
      eventRisk: 5,
      driver: 'driver-1',
      trip: 'trip-1',
      location: place,
      maxSpeedKph: 98,
      speedLimitKph: 88,
    }),
    safetyEvent({ sourceId: 'phone', startedAt: hoursAgo(1), incidentTypes: ['Phone Usage'], eventRisk: 2 }),
    safetyEvent({ sourceId: 'other', vehicle: 'truck-2', startedAt: hoursAgo(1.5), eventRisk: 3 }),
    safetyEvent({ sourceId: 'old', startedAt: hoursAgo(24 * 20), incidentTypes: ['Speeding'] }),
  );
  await as(samsara?.ingestKey ?? '').send(
    vehicle({ name: 'Van 31', vin: 'VIN31' }),
    safetyEvent({ startedAt: hoursAgo(1.7), incidentTypes: ['Tailgating'], eventRisk: 4 }),
  );
  await as(them.connection.ingestKey).send(
    vehicle({ name: 'Foreign truck' }),
    safetyEvent({ startedAt: hoursAgo(1) }),
  );
});

const { get, html } = visitor(() => cookie);
const page = (query = '') => html(`/portal/events${query}`);
/** The vehicles of the events that a page shows, in its order. */
const vehiclesOn = (html: string) =>
  [...html.matchAll(/<\/td><td[^>]*>((?:Truck|Van|Foreign)[^<]*)<\/td>/g)].map(([, name]) => name);
const eventId = async (sourceId: string) => {
  const query = 'select id from safety_events where source_id = ? and account_id = ?';
  return String((await rows(query, sourceId, us.accountId))[0]?.id);
};

describe('the list of safety events', () => {
  it('has those of all connections, newest first, by day, of this account alone', async () => {
    const html = await page();
    expect(vehiclesOn(html)).toEqual(['Truck 114', 'Truck 2', 'Van 31', 'Truck 114']);
    for (const words of ['Joss Arden', '40.215, −77.189', '98 km/h, limit 88']) expect(html).toContain(words);
    expect(html).toMatch(/scope="rowgroup"[^>]*>(Today, )?\w+day, /);
  });

  it.each([
    ['risk=4', ['Van 31', 'Truck 114']],
    ['type=Tailgating', ['Van 31']],
    ['vehicle=truck+1', ['Truck 114', 'Truck 114']],
    ['vehicle=ZQX+4471', ['Truck 114', 'Truck 114']],
    ['vin=vin2', ['Truck 2']],
    ['driver=joss', ['Truck 114']],
    ['driver=nobody', []],
    ['vehicle=%25', []],
    ['vehicle=van&driver=joss', []],
    ['vehicle=foreign', []],
    ['vehicle=van&from=1970-01-02&to=9999-12-30', ['Van 31']],
    ['vehicle=van&to=9999-12-31', []],
  ])('with ?%s has %o', async (query, expected) => {
    const html = await page(`?${query}`);
    expect(vehiclesOn(html)).toEqual(expected);
    expect(html.includes('Nothing matches these filters')).toBe(expected.length === 0);
  });

  it('has those of one connection, of a vehicle by its id, and of other days', async () => {
    expect(vehiclesOn(await page(`?connection=${us.connections[1]?.id}`))).toEqual(['Van 31']);
    const [truck] = await rows(
      "select id from vehicles where name = 'Truck 2' and account_id = ?",
      us.accountId,
    );
    const html = await page(`?vehicle=${truck?.id}`);
    expect(vehiclesOn(html)).toEqual(['Truck 2']);
    expect(html).toContain('value="Truck 2"');
    const day = hoursAgo(24 * 20).slice(0, 10);
    expect(await page(`?from=${day}&to=${day}`)).toContain('Speeding');
  });

  it('says which filters are set, each with a link that removes it', async () => {
    const html = await page('?risk=4&vin=VIN31&driver=');
    expect(html).toMatch(/href="\/portal\/events\?vin=VIN31"[^>]*>Risk 4 and 5/);
    expect(html).toMatch(/href="\/portal\/events\?risk=4"[^>]*>VIN VIN31/);
    expect(html).toContain('2 set');
  });

  it('counts days in the time zone of the reader', async () => {
    const inZone = { cookie: `${cookie}; timezone=Pacific%2FKiritimati` };
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Kiritimati' }).format(now);
    const html = await (await ask('GET', '/portal/events', inZone)).text();
    expect(html).toContain(`name="to" type="date" value="${day}"`);
  });

  it.each([
    ['from=2026-13-01', 'from', 'Must be a date'],
    ['from=2026-02-02&to=2026-02-01', 'to', 'Must not be before the first day'],
    ['connection=00000000-0000-4000-8000-000000000000', 'connection', 'Choose one of your connections'],
  ])('with ?%s says under %s what is wrong', async (query, field, message) => {
    const reply = await get(`/portal/events?${query}`);
    expect(reply.status).toBe(400);
    expect(await reply.text()).toMatch(new RegExp(`id="${field}-error"[\\s\\S]*?${message}`));
  });

  it('goes on to older events, and back', async () => {
    const day = hoursAgo(24 * 40).slice(0, 10);
    const at = (i: number) => `${day}T12:${String(i).padStart(2, '0')}:00Z`;
    const many = Array.from({ length: 60 }, (_, i) =>
      safetyEvent({ sourceId: `many${i}`, startedAt: at(i) }),
    );
    await as(us.connection.ingestKey).send(...many);
    const first = await page(`?from=${day}&to=${day}`);
    const [, older = ''] = /href="(\/portal\/events\?[^"]*cursor=[^"]*)"/.exec(first) ?? [];
    const second = await html(older.replaceAll('&amp;', '&'));
    expect([vehiclesOn(first).length, vehiclesOn(second).length]).toEqual([50, 10]);
    expect(second).toContain('First');
  });
});

describe('the CSV file', () => {
  const linesOf = async (reply: Response) => (await reply.text()).trimEnd().split('\n');

  it('has what the filters of the page show, newest first, with names', async () => {
    const html = await page('?risk=3&vehicle=t');
    const link = /href="(\/portal\/events\.csv\?[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const reply = await get(link);
    expect(reply.headers.get('content-type')).toContain('text/csv');
    expect(reply.headers.get('content-disposition')).toMatch(
      /filename="safety-events-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d.csv"/,
    );
    const bytes = new Uint8Array(await reply.clone().arrayBuffer());
    expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]); // by which Excel knows UTF-8
    const [head = '', ...lines] = await linesOf(reply);
    expect(head).toMatch(/^id,connectionId,connectionName,.*location.latitude,location.longitude/);
    expect(lines[1]).toContain(`,${us.connection.id},Motive,`);
    const at = head.split(',').indexOf('sourceId');
    expect(lines.map((line) => line.split(',')[at])).toEqual(['other', 'brake']);
    expect(lines[1]).toContain(',Joss Arden,');
    expect(await linesOf(await get(link.replace('vehicle=t', 'vehicle=nobody')))).toHaveLength(1);
  });

  it('leads to the page for a connection of another account', async () => {
    const filter = `connection=${them.connection.id}`;
    const to = (await get(`/portal/events.csv?${filter}`)).headers.get('location');
    expect(to).toMatch(/^\/portal\/events\?/);
    expect(to).toContain(filter);
  });

  it('of accidents has times of the reader’s zone, and the range in its name', async () => {
    await as(us.connection.ingestKey).send(accident({ vin: 'VIN114', eventTime: '2026-11-20T02:00:05Z' }));
    const zoned = { cookie: `${cookie}; timezone=America%2FChicago` };
    const reply = await ask('GET', '/portal/accidents.csv?from=2026-11-19&to=2026-11-19&level=1', zoned);
    expect(reply.headers.get('content-disposition')).toContain('filename="accidents-2026-11-19.csv"');
    const text = await reply.text();
    expect(text).toContain('vehicleName,licensePlate,driverId,driverName,eventTime (America/Chicago)');
    expect(text).toMatch(/Truck 114.*,2026-11-19 20:00:05,.*,1 First detection,.*,1 First detection 20\d\d-/);
    const others = await ask('GET', '/portal/accidents.csv?from=2026-11-20&to=2026-11-21', zoned);
    expect(await linesOf(others)).toHaveLength(1);
  });
});

describe('the page of a safety event', () => {
  it('says where, how fast, on which trip, who drove, and what the provider called it', async () => {
    const page = await html(`/portal/events/${await eventId('brake')}`);
    for (const words of [
      ...['Harsh Braking, Truck 114', '40.21502, −77.18934', '98 km/h, limit 88', 'Joss Arden', 'VIN114'],
      ...['<code>hard_brake</code>', '31 km', 'No webhook was notified'],
    ])
      expect(page).toContain(words);
  });

  it('is found by the link of the list when it has moved to the archive long ago', async () => {
    const at = Date.parse(hoursAgo(24 * 20));
    const link = /href="(\/portal\/events\/[^"]*)"/.exec(
      await page(`?type=Speeding&from=${hoursAgo(24 * 21).slice(0, 10)}`),
    )?.[1];
    await move(us, at, { kind: kindOf(safetyEvents) });
    expect((await get(`/portal/events/${await eventId('old')}`)).status).toBe(404);
    expect(await html(link ?? '')).toContain('Speeding, Truck 114');
  });
});
