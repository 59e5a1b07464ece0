import { recordId } from '#src/core/platform/db/ids.ts';
import { listPage } from '#test/support/fleet.ts';
import { driver, safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { as, invalid, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara'] });
let trucks: string;
let vans: string;
beforeAll(async () => {
  [trucks = '', vans = ''] = us.connections.map(({ id }) => id);
  await us.send(
    vehicle(),
    vehicle({ sourceId: 'truck-2' }),
    driver({ sourceId: 'ann' }),
    ...[1, 2, 3].map((hour) =>
      trip({
        sourceId: `trip-${hour}`,
        vehicle: hour === 2 ? 'truck-2' : 'truck-1',
        ...(hour < 3 && { driver: 'ann' }),
        startedAt: `2026-11-20T0${hour}:00:00Z`,
      }),
    ),
    ...[
      { sourceId: 'a', startedAt: '2026-11-19T10:00:00Z', incidentTypes: ['crash'] },
      {
        sourceId: 'b',
        startedAt: '2026-11-20T00:00:00Z',
        incidentTypes: ['hard_brake', 'cell_phone'],
      },
      { sourceId: 'c', startedAt: '2026-11-20T10:00:00Z', incidentTypes: ['something_new'] },
    ].map(safetyEvent),
  );
  await as(us.connections[1]?.ingestKey ?? '').send(
    vehicle({ sourceId: 'van' }),
    trip({ sourceId: 'v', vehicle: 'van', startedAt: '2026-11-20T02:30:00Z' }),
  );
});
const list = (path: string, connection?: string, token = us.apiToken) =>
  listPage(token, path, connection);
const day = 'from=2026-11-20&to=2026-11-21';
const sourceIds = async (path: string, connection?: string) =>
  (await list(path, connection)).data.map(({ sourceId }) => sourceId);

describe('filters', () => {
  const truck1 = () => recordId(trucks, 'vehicle', 'truck-1');
  const truck2 = () => recordId(trucks, 'vehicle', 'truck-2');
  const ann = () => recordId(trucks, 'driver', 'ann');

  it('are half-open ranges in any offset, and values repeated or with commas', async () => {
    expect(await sourceIds('/trips')).toEqual(['trip-1', 'trip-2', 'v', 'trip-3']);
    expect(
      await sourceIds('/trips?from=2026-11-20T02:00:00Z&to=2026-11-20T03:00:00Z', vans),
    ).toEqual(['v']);
    expect(await sourceIds('/trips?from=2026-11-20T04:00:00%2B01:00')).toEqual(['trip-3']);
    expect(await sourceIds('/safety-events?from=2026-11-19&to=2026-11-20', trucks)).toEqual(['a']);
    const both = `vehicleIds=${truck1()}&vehicleIds=${truck2()}`;
    for (const ids of [both, `vehicleIds=${truck1()},${truck2().toUpperCase()}`])
      expect(await sourceIds(`/trips?${ids}`)).toEqual(['trip-1', 'trip-2', 'trip-3']);
    expect(await sourceIds(`/trips?${both}&driverIds=${ann()}`)).toEqual(['trip-1', 'trip-2']);
    expect(await sourceIds(`/trips?driverIds=${ann()}`, vans)).toEqual([]);
    expect(await sourceIds(`/safety-events?${day}&eventTypes=phone-usage,Other`, trucks)).toEqual([
      'b',
      'c',
    ]);
  });

  it('take a hundred values each', async () => {
    const others = Array.from({ length: 99 }, () => crypto.randomUUID());
    const both = `vehicleIds=${[truck1(), ...others]}&driverIds=${[ann(), ...others]}`;
    expect(await sourceIds(`/trips?${both}`, trucks)).toEqual(['trip-1']);
    const spellings = Array.from({ length: 100 }, (_, i) => `phone${'-'.repeat(i)}usage`);
    expect(await sourceIds(`/safety-events?${day}&eventTypes=${spellings}`, trucks)).toEqual(['b']);
  });

  it.each([
    [
      '/safety-events?from=2026-11-20&to=2026-11-21&minRisk=4',
      'minRisk',
      /, did you mean minEventRisk\?$/,
    ],
    ['/trips?vehicleId=1', 'vehicleId', /, did you mean vehicleIds\?$/],
    ['/vehicles?from=2026-11-20', 'from', /; known are limit, cursor, status, vin, externalId$/],
  ])('that are unknown are refused with the nearest: %s', async (path, field, message) => {
    const refusal = { field, message: expect.stringMatching(message) };
    expect(await list(path, trucks)).toMatchObject({ status: 400, errors: [refusal] });
  });
});

describe('a parameter that has one value', () => {
  it.each([
    ['/trips?limit=1&limit=2', 'limit'],
    [`/trips?${day}&cursor=&cursor=`, 'cursor'],
    [`/safety-events?${day}&from=2026-11-19`, 'from'],
    [`/safety-events?${day}&minEventRisk=1&minEventRisk=1`, 'minEventRisk'],
    ['/vehicles?vin=1FUJGLDR9CLBP7711&vin=1FUJGLDR9CLBP7712', 'vin'],
    [`/safety-events/${crypto.randomUUID()}?at=2026-11-20&at=2026-11-21`, 'at'],
    ['/webhooks?x=1&x=2', 'x'],
  ])('is refused if it is given twice: %s', async (path, field) => {
    const reply = await list(path, trucks);
    expect(reply).toMatchObject({ status: 400, errors: [{ field }] });
    if (field !== 'x') expect(reply.message).toBe(`${field} must be given only once`);
  });
});

describe('a list refuses', () => {
  it.each([
    ['limit=0', 'limit must be a whole number of at least 1'],
    ['limit=ten', 'limit must be'],
    ['cursor=abc', 'Invalid cursor'],
    ['from=yesterday', 'from must be an RFC 3339 time'],
    ['from=2026-02-31', 'from must be a time that exists'],
    ['from=2026-11-21&to=2026-11-21', 'from must be before to'],
    ['vehicleIds=truck-1', 'vehicleIds must be UUIDs'],
    ['driverIds=', 'driverIds must be UUIDs'],
  ])('/trips?%s', async (query, message) => {
    const reply = await list(`/trips?${query}`);
    expect(reply).toMatchObject({ status: 400, message: expect.stringContaining(message) });
    expect(reply.errors?.[0]?.field).toBe(query.split('=')[0]);
  });

  it.each([
    ['', 'from is required'],
    ['from=2026-11-20', 'to is required'],
    [`${day}&eventTypes=Teleport`, 'eventTypes must be normalised incident types'],
    [`${day}&minEventRisk=6`, 'minEventRisk must be from 1 to 5'],
  ])('/safety-events?%s', async (query, message) => {
    expect(await list(`/safety-events?${query}`, trucks)).toMatchObject(invalid(message));
  });
});

it("refuses another account's connection", async () => {
  const them = await world();
  expect(await list('/vehicles', them.connection.id)).toMatchObject(
    invalid('Invalid connection id'),
  );
});

it('an empty cursor is none', async () => {
  const first = await list(`/trips?${day}`);
  expect(await list(`/trips?${day}&cursor=`)).toMatchObject({ status: 200, data: first.data });
});

it('limit is 50 unless given, and 500 at most', async () => {
  const other = await world();
  const records = (n: number, from: number) =>
    Array.from({ length: n }, (_, i) => vehicle({ sourceId: `v${from + i}` }));
  await other.send(...records(10, 0));
  await other.send(...records(500, 10)); // created at once: the first page ends among them
  const page = (query: string) => list(`/vehicles${query}`, other.connection.id, other.apiToken);
  expect((await page('')).data).toHaveLength(50);
  const first = await page('?limit=9999');
  expect(first.data).toHaveLength(500);
  const second = await page(`?limit=9999&cursor=${first.next}`);
  expect(second.data).toHaveLength(10);
  expect(second).not.toHaveProperty('next');
  expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).toBe(510);
});
