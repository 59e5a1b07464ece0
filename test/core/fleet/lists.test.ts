import { type Item, listPage } from '#test/support/fleet.ts';
import {
  driver,
  invalid,
  recordId,
  safetyEvent,
  times,
  trip,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll, 'motive', 'samsara');
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
  await us.connections[1]?.send(
    vehicle({ sourceId: 'van' }),
    trip({ sourceId: 'v', vehicle: 'van', startedAt: '2026-11-20T02:30:00Z' }),
  );
});
const list = (path: string, connection?: string) => listPage(us.apiToken, path, connection);
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
    const others = times(99, () => crypto.randomUUID());
    const both = `vehicleIds=${[truck1(), ...others]}&driverIds=${[ann(), ...others]}`;
    expect(await sourceIds(`/trips?${both}`, trucks)).toEqual(['trip-1']);
    const spellings = times(100, (i) => `phone${'-'.repeat(i)}usage`);
    expect(await sourceIds(`/safety-events?${day}&eventTypes=${spellings}`, trucks)).toEqual(['b']);
  });
});

it.each([
  [`/trips?${day}&cursor=&cursor=`, 'cursor'],
  [`/safety-events?${day}&from=2026-11-19`, 'from'],
  [`/safety-events/${crypto.randomUUID()}?at=2026-11-20&at=2026-11-21`, 'at'],
  ['/webhooks?x=1&x=2', 'x'],
])('a parameter that has one value is refused if it is given twice: %s', async (path, field) => {
  const reply = await list(path, trucks);
  expect(reply).toMatchObject({ status: 400, errors: [{ field }] });
  if (field !== 'x') expect(reply.message).toBe(`${field} must be given only once`);
});

it.each([
  ['/trips?from=2026-02-31', 'from', 'must be a time that exists'],
  ['/trips?from=2026-11-21&to=2026-11-21', 'from', 'must be before to'],
  ['/trips?driverIds=', 'driverIds', 'must be UUIDs'],
  ['/safety-events?from=2026-11-20', 'to', 'is required'],
])('a list refuses %s', async (path, field, message) => {
  const refused = invalid(expect.stringContaining(`${field} ${message}`), field);
  expect(await list(path, trucks)).toMatchObject(refused);
});

it("refuses another account's connection", async () => {
  const them = await world();
  const refused = invalid('Invalid connection id');
  expect(await list('/vehicles', them.connection.id)).toMatchObject(refused);
});

it('an empty cursor is none', async () => {
  const first = await list(`/trips?${day}`);
  expect(await list(`/trips?${day}&cursor=`)).toMatchObject({ status: 200, data: first.data });
});

it('limit is 50 unless given, and 500 at most', async () => {
  const other = await world();
  const records = times(510, (i) => vehicle({ sourceId: `v${i}` }));
  await other.send(...records.slice(500));
  await other.send(...records.slice(0, 500)); // created at once: the first page ends among them
  const page = (query: string) => other.lists.get<Item[]>(`/vehicles${query}`);
  expect((await page('')).data).toHaveLength(50);
  const first = await page('?limit=9999');
  expect(first.data).toHaveLength(500);
  const second = await page(`?limit=${'9'.repeat(20)}&cursor=${first.next}`);
  expect(second.data).toHaveLength(10);
  expect(second).not.toHaveProperty('next');
  expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).toBe(510);
});
