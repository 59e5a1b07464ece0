import { beforeAll, describe, expect, it } from 'vitest';
import { listPage, seededFleet } from '../support/fleet.ts';
import { vehicle } from '../support/records.ts';
import { as, type World, world } from '../support/world.ts';

let us: World;
let trucks: string;
beforeAll(async () => {
  ({ us, trucks } = await seededFleet());
});
const list = (path: string, connection?: string, token = us.apiToken) => listPage(token, path, connection);
const day = 'from=2026-11-20&to=2026-11-21';

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
    expect(await list(`/safety-events?${query}`, trucks)).toMatchObject({ status: 400, message });
  });
});

it('an empty cursor is none', async () => {
  const first = await list(`/trips?${day}`);
  for (const path of [`/trips?${day}&cursor=`, '/changes?cursor=', '/deliveries?cursor='])
    expect(await list(path)).toMatchObject({ status: 200 });
  expect((await list(`/trips?${day}&cursor=`)).data).toEqual(first.data);
});

it('limit is 50 unless given, and 500 at most', async () => {
  const other = await world();
  const records = (n: number, from: number) =>
    Array.from({ length: n }, (_, i) => vehicle({ sourceId: `v${from + i}` }));
  await as(other.connection.ingestKey).send(...records(500, 0));
  await as(other.connection.ingestKey).send(...records(10, 500));
  const page = (query: string) => list(`/vehicles${query}`, other.connection.id, other.apiToken);
  expect((await page('')).data).toHaveLength(50);
  const first = await page('?limit=9999');
  expect(first.data).toHaveLength(500);
  const second = await page(`?limit=9999&cursor=${first.next}`);
  expect(second.data).toHaveLength(10);
  expect(second).not.toHaveProperty('next');
  expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).toBe(510);
});
