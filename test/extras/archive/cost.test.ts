import { env } from 'cloudflare:workers';
import { trips } from '#src/core/fleet/lists/trips.ts';
import { readList } from '#src/core/fleet/service.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { daysOf } from '#src/extras/archive/catalog.ts';
import { readAcross } from '#src/extras/archive/lists.ts';
import { insertTrips, move, walk, withoutArchive } from '#test/extras/archive/support.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
let expected: unknown[];
const day = 200 * dayMs;
const count = 12_000;
let moved: { read: number; written: number };
beforeAll(async () => {
  const seeds = Array.from({ length: count }, (_, i) => ({
    startedAt: day + 5 * i,
    driver: newId(),
  }));
  const later = Array.from({ length: 1500 }, (_, i) => ({ startedAt: day + dayMs + i }));
  await insertTrips(us, [...seeds, ...later]);
  expected = (await walk(withoutArchive, us, trips.list, { query: { limit: ['500'] } })).items;
  const { env: bindings, cost } = metered();
  await move(us, day, { bindings });
  moved = { read: cost.read / count, written: cost.written / count };
}, 600_000);

async function priceOf(query: Record<string, string[]>, more: { descending?: boolean } = {}) {
  const { env: bindings, cost } = metered();
  let reads = 0;
  const get = (...args: Parameters<R2Bucket['get']>) => {
    reads += 1;
    return env.ARCHIVE.get(...args);
  };
  const request = { connectionId: us.connection.id, query, ...more };
  const page = await readList(
    { ...bindings, ARCHIVE: { get } as R2Bucket },
    us,
    trips.list,
    request,
    readAcross,
  );
  return { page, reads, rowsRead: cost.read, trips: cost.trips, written: cost.written };
}

describe('a page of an archived day', () => {
  it.each([
    ['of 50', '50', false],
    ['of 500', '500', false],
    ['of 500, newest first', '500', true],
  ])(
    '%s costs one round trip, at most 4 reads of the bucket, and a few rows of the catalog',
    async (_, limit, descending) => {
      const found: unknown[] = [];
      let cursor: string | undefined;
      // What D1 has between the archive and a far end must not be read.
      const to = [descending ? new Date(day + dayMs).toISOString() : '2100-01-01'];
      do {
        const query = { limit: [limit], to, ...(cursor && { cursor: [cursor] }) };
        const price = await priceOf(query, { descending });
        expect(price).toMatchObject({ trips: 1, written: 0 });
        expect(price.reads).toBeLessThanOrEqual(4);
        expect(price.rowsRead).toBeLessThanOrEqual(12);
        found.push(...price.page.items);
        cursor = price.page.next;
        if (found.length > (limit === '50' ? 1000 : count - 1000)) break;
      } while (cursor);
      const all = expected.slice(0, count);
      expect(found).toEqual((descending ? all.toReversed() : all).slice(0, found.length));
    },
  );

  it('is full where it continues in D1', async () => {
    const from = [new Date(day + 5 * (count - 20)).toISOString()];
    const { page, reads, trips } = await priceOf({ from });
    expect(page.items).toEqual(expected.slice(count - 20, count + 30));
    expect(trips).toBe(2);
    expect(reads).toBeLessThanOrEqual(4);
  });

  it('that is filtered looks through at most four files, and goes on', async () => {
    const wanted = expected[11_000] as { vehicleId: string };
    const query = { vehicleIds: [wanted.vehicleId] };
    const { items, pages } = await walk(env, us, trips.list, { query });
    expect(items).toEqual([wanted]);
    expect(pages.length).toBeLessThanOrEqual(3);
    expect((await priceOf(query)).reads).toBeLessThanOrEqual(4);
  });
});

it('archiving reads and writes a bounded number of rows for each record', () => {
  expect(moved.read).toBeLessThanOrEqual(7);
  expect(moved.written).toBeLessThanOrEqual(1.1);
});

it.each([
  ['a connection, oldest first', true, false],
  ['a connection, newest first', true, true],
  ['an account, oldest first', false, false],
  ['an account, newest first', false, true],
])(
  'looking for the first two days of %s reads a few rows, however many there are',
  async (_, one, descending) => {
    const them = await world();
    const connectionId = them.connection.id;
    const { accountId } = them;
    const insert = `insert into archived_days select 'trips', ?1, ?2, value, 0, '[]' from json_each(?3)`;
    await rows(
      insert,
      accountId,
      connectionId,
      JSON.stringify(Array.from({ length: 300 }, (_, i) => i)),
    );
    const { env: bindings, cost } = metered();
    const scope = { kind: 'trips', accountId, connectionId: one ? connectionId : undefined };
    const query = { ...scope, from: 100, to: 250, descending, most: 2 };
    const db = openDatabase(bindings);
    const found = await transaction(db, daysOf(db, query));
    expect(found.map(({ day }) => day)).toEqual(descending ? [250, 249] : [100, 101]);
    expect(cost.read).toBeLessThanOrEqual(10);
  },
);
