import { move } from '#test/extras/archive/support.ts';
import {
  accident,
  driver,
  type Page,
  personBefore,
  recordId,
  safetyEvent,
  times,
  trip,
  vehicle,
  visitor,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll, 'motive', 'samsara');
const them = worldBefore(beforeAll);
const ann = personBefore(beforeAll, us);
const { get, page } = ann;
const now = Date.now();
const hoursAgo = (hours: number) => new Date(now - hours * 3_600_000).toISOString();
const longAgo = hoursAgo(24 * 20);
beforeAll(async () => {
  await us.send(
    vehicle({ name: 'Truck 114', vin: 'VIN114', licensePlate: 'ZQX 4471' }),
    vehicle({ sourceId: 'truck-2', name: 'Truck 2', vin: 'VIN2' }),
    driver({ name: 'Joss Arden' }),
    trip({ startedAt: hoursAgo(3), driver: 'driver-1', distanceKm: 31 }),
    safetyEvent({
      sourceId: 'brake',
      startedAt: hoursAgo(2),
      driver: 'driver-1',
      trip: 'trip-1',
      eventRisk: 5,
      maxSpeedKph: 98,
      speedLimitKph: 88,
      location: { latitude: 40.21502, longitude: -77.18934 },
    }),
    safetyEvent({ sourceId: 'phone', startedAt: hoursAgo(1), eventRisk: 2, trip: 'trip-2' }),
    safetyEvent({ sourceId: 'other', vehicle: 'truck-2', startedAt: hoursAgo(1.5), eventRisk: 3 }),
    safetyEvent({ sourceId: 'old', startedAt: longAgo, incidentTypes: ['Speeding'] }),
  );
  await us.connections[1]?.send(
    vehicle({ name: 'Van 31', vin: 'VIN31' }),
    safetyEvent({ startedAt: hoursAgo(1.7), incidentTypes: ['Tailgating'], eventRisk: 4 }),
  );
  await them.send(vehicle({ name: 'Foreign truck' }), safetyEvent({ startedAt: hoursAgo(1) }));
});

const list = (query = '') => page(`/portal/events${query}`);
/** The vehicles of the events that a list shows, in its order. */
const vehiclesOn = ({ textAt }: Page) => textAt('tbody td:nth-child(3)');
const idOf = (kind: string, sourceId: string) => recordId(us.connection.id, kind, sourceId);
const day = longAgo.slice(0, 10);

describe('the list of safety events', () => {
  it('has those of this account, newest first', async () => {
    const shown = await list();
    expect(vehiclesOn(shown)).toEqual(['Truck 114', 'Truck 2', 'Van 31', 'Truck 114']);
    for (const words of ['Joss Arden', '40.215, −77.189', '98 km/h, limit 88'])
      expect(shown.text).toContain(words);
    expect(shown.textAt('th[scope=rowgroup]')[0]).toMatch(/^(Today, )?\w+day, /);
  });

  it.each([
    ['risk=4', ['Van 31', 'Truck 114']],
    ['type=Tailgating', ['Van 31']],
    ['vehicle=truck+1', ['Truck 114', 'Truck 114']],
    ['vehicle=ZQX+4471', ['Truck 114', 'Truck 114']],
    ['vin=vin2', ['Truck 2']],
    ['driver=joss', ['Truck 114']],
    ['vehicle=%25', []],
    ['vehicle=van&driver=joss', []],
    ['vehicle=foreign', []],
    ['vehicle=van&from=1970-01-02&to=9999-12-30', ['Van 31']],
    ['vehicle=van&to=9999-12-31', []],
    [`from=${day}&to=${day}`, ['Truck 114']],
  ])('with ?%s has %o', async (query, expected) => {
    const shown = await list(`?${query}`);
    expect(vehiclesOn(shown)).toEqual(expected);
    expect(shown.text.includes('Nothing matches these filters')).toBe(expected.length === 0);
  });

  it('has those of a connection or a vehicle', async () => {
    expect(vehiclesOn(await list(`?connection=${us.connections[1]?.id}`))).toEqual(['Van 31']);
    const shown = await list(`?vehicle=${idOf('vehicle', 'truck-2')}`);
    expect(vehiclesOn(shown)).toEqual(['Truck 2']);
    expect(shown.all('#vehicle')[0]?.getAttribute('value')).toBe('Truck 2');
  });

  it('has each filter, with a link that removes it', async () => {
    const shown = await list('?risk=4&vin=VIN31&driver=');
    expect(shown.links('Risk 4 and 5 , remove')).toEqual(['/portal/events?vin=VIN31']);
    expect(shown.links('VIN VIN31 , remove')).toEqual(['/portal/events?risk=4']);
    expect(shown.textAt('summary')[0]).toBe('Filters 2 set');
  });

  it('counts days in the time zone of the reader', async () => {
    const zone = 'Pacific/Kiritimati';
    const reader = visitor(() => `${ann.cookie}; timezone=${encodeURIComponent(zone)}`);
    const [to] = (await reader.page('/portal/events')).all('#to');
    expect(to?.getAttribute('value')).toBe(
      new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(now),
    );
  });

  it.each([
    ['from=2026-13-01', 'from', 'Must be a date'],
    ['from=2026-02-02&to=2026-02-01', 'to', 'Must not be before the first day'],
    [
      'connection=00000000-0000-4000-8000-000000000000',
      'connection',
      'Choose one of your connections',
    ],
  ])('with ?%s says under %s what is wrong', async (query, field, message) => {
    const shown = await list(`?${query}`);
    expect(shown.status).toBe(400);
    expect(shown.errors).toEqual({ [field]: expect.stringContaining(message) });
  });

  it('goes on to older events, and back', async () => {
    const before = hoursAgo(24 * 40).slice(0, 10);
    const many = (i: number) => ({ sourceId: `many${i}`, startedAt: `${before}T12:00:00Z` });
    await us.send(...times(60, (i) => safetyEvent(many(i))));
    const first = await list(`?from=${before}&to=${before}`);
    const second = await page(first.links('Next')[0] ?? '');
    expect([first, second].map((shown) => vehiclesOn(shown).length)).toEqual([50, 10]);
    expect(second.links('First')).toEqual([`/portal/events?from=${before}&to=${before}`]);
  });
});

const linesOf = async (reply: Response) => (await reply.text()).trimEnd().split('\n');

it('the CSV file has what the filters of the page show, newest first, with names', async () => {
  const [link = ''] = (await list('?risk=3&vehicle=t')).links('Export CSV');
  const reply = await get(link);
  expect(reply.headers.get('content-disposition')).toMatch(
    /filename="safety-events-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d.csv"/,
  );
  const bytes = new Uint8Array(await reply.clone().arrayBuffer());
  expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]); // by which Excel knows UTF-8
  const [head, ...lines] = await linesOf(reply);
  expect(head).toMatch(
    /^.?Incident,Risk,Vehicle,Driver,.*Place,Speed \(km\/h\),Source,Time \(.*\),VIN,.*ID,/,
  );
  expect(lines).toEqual([
    expect.stringMatching(/^[^,]*,3,Truck 2,.*,Motive,/),
    expect.stringMatching(/^[^,]*,5,Truck 114,Joss Arden,.*,Motive,/),
  ]);
  expect(await linesOf(await get(link.replace('vehicle=t', 'vehicle=nobody')))).toHaveLength(1);
});

it('the CSV file leads to the page for a connection of another account', async () => {
  const filter = `connection=${them.connection.id}`;
  const to = (await get(`/portal/events.csv?${filter}`)).headers.get('location');
  expect(to).toMatch(new RegExp(`^/portal/events\\?.*${filter}`));
});

it('the CSV file of accidents has times of the reader’s zone, and its range', async () => {
  await us.send(accident({ vin: 'VIN114', eventTime: '2026-11-20T02:00:05Z' }));
  const reader = visitor(() => `${ann.cookie}; timezone=America%2FChicago`);
  const file = (from: string, to: string) =>
    reader.get(`/portal/accidents.csv?from=${from}&to=${to}&level=1`);
  const reply = await file('2026-11-19', '2026-11-19');
  expect(reply.headers.get('content-disposition')).toContain('filename="accidents-2026-11-19.csv"');
  expect(await reply.text()).toMatch(
    /Vehicle,VIN,Level,Severity,Driver,.*Speed \(km\/h\),Time \(America\/Chicago\),Plate,Source.*\s+Truck 114,VIN114,1 First detection,.*,2026-11-19 20:00:05,.*,1 First detection 20\d\d-/,
  );
  expect(await linesOf(await file('2026-11-20', '2026-11-21'))).toHaveLength(1);
});

it('the page of a safety event has place, speed, trip, driver and label', async () => {
  const { text, textAt } = await page(`/portal/events/${idOf('safetyEvent', 'brake')}`);
  for (const words of [
    ...['Harsh Braking, Truck 114', '40.21502, −77.18934', '98 km/h, limit 88', 'Joss Arden'],
    ...['VIN114', 'hard_brake', '31 km', 'No webhook was notified'],
  ])
    expect(text).toContain(words);
  expect(textAt('.cols > .stack h2')).toEqual(['Place', 'Who was notified']);
  expect(textAt('#who-was-notified-now ul')).toEqual([]);
});

it('an event whose trip is not there leads to the trips of its vehicle on that day', async () => {
  const { links } = await page(`/portal/events/${idOf('safetyEvent', 'phone')}`);
  const [trips = ''] = links('Of that day');
  const [, from, to] = /&from=(.*)&to=(.*)/.exec(trips) ?? [];
  expect([from, to]).toEqual([hoursAgo(1).slice(0, 10), hoursAgo(1).slice(0, 10)]);
  expect((await page(trips)).textAt('.chips')[0]).toContain('Vehicle Truck 114');
});

it("the page of a safety event in the archive is found by the list's link", async () => {
  const [link = ''] = (await list(`?type=Speeding&from=${day}`)).links('Speeding');
  await move(us, Date.parse(longAgo), { table: 'safety_events' });
  const path = `/portal/events/${idOf('safetyEvent', 'old')}`;
  expect((await get(path)).status).toBe(404);
  expect((await page(link)).heading).toBe('Speeding, Truck 114');
});
