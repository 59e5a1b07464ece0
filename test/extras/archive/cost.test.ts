import { env } from 'cloudflare:workers';
import { trips } from '#src/core/fleet/lists/trips.ts';
import { readList } from '#src/core/fleet/service.ts';
import { daysOf } from '#src/extras/archive/catalog.ts';
import { readAcross } from '#src/extras/archive/lists.ts';
import {
  addRows,
  dayMs,
  metered,
  newId,
  openDatabase,
  times,
  transaction,
  world,
  worldBefore,
} from '#test/support.ts';
import { insertTrips, move, walk, withoutArchive } from './support.ts';

const us = worldBefore(beforeAll);
let expected: unknown[];
const day = 200 * dayMs;
const count = 12_000;
beforeAll(async () => {
  const seeds = times(count, (i) => ({
    startedAt: day + 5 * i,
    driver: newId(),
  }));
  const later = times(1500, (i) => ({ startedAt: day + dayMs + i }));
  await insertTrips(us, [...seeds, ...later]);
  expected = (await walk(withoutArchive, us, trips.list, { query: { limit: ['500'] } })).items;
  await move(us, day);
}, 600_000);

async function priceOf(query: Record<string, string[]>, descending = false) {
  const { env: bindings, cost } = metered();
  const get = vi.fn(env.ARCHIVE.get.bind(env.ARCHIVE));
  const request = { connectionId: us.connection.id, query, descending };
  const ARCHIVE = { get } as unknown as R2Bucket;
  const page = await readList({ ...bindings, ARCHIVE }, us, trips.list, request, readAcross);
  return { page, reads: get.mock.calls.length, cost };
}

describe('a page of an archived day', () => {
  it.each([
    ['of 50', '50', false],
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
        const { page, reads, cost } = await priceOf(query, descending);
        expect(cost).toMatchObject({ trips: 1, written: 0 });
        expect(reads).toBeLessThanOrEqual(4);
        expect(cost.read).toBeLessThanOrEqual(12);
        found.push(...page.items);
        cursor = page.next;
        if (found.length > (limit === '50' ? 1000 : count - 1000)) break;
      } while (cursor);
      const all = expected.slice(0, count);
      expect(found).toEqual((descending ? all.toReversed() : all).slice(0, found.length));
    },
  );

  it('is full where it continues in D1', async () => {
    const from = [new Date(day + 5 * (count - 20)).toISOString()];
    const { page, reads, cost } = await priceOf({ from });
    expect(page.items).toEqual(expected.slice(count - 20, count + 30));
    expect(cost.trips).toBe(2);
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

it.each([
  ['a connection, oldest first', true, false],
  ['an account, newest first', false, true],
])(
  'looking for the first two days of %s reads a few rows, however many there are',
  async (_, one, descending) => {
    const them = await world();
    const connectionId = them.connection.id;
    const { accountId } = them;
    await addRows('archived_days', 300, (i) => ({
      kind: 'trips',
      account_id: accountId,
      connection_id: connectionId,
      day: i,
      piece: 0,
    }));
    const { env: bindings, cost } = metered();
    const scope = { kind: 'trips', accountId, connectionId: one ? connectionId : undefined };
    const query = { ...scope, from: 100, to: 250, descending, most: 2 };
    const db = openDatabase(bindings);
    const found = await transaction(db, daysOf(db, query));
    expect(found.map(({ day }) => day)).toEqual(descending ? [250, 249] : [100, 101]);
    expect(cost.read).toBeLessThanOrEqual(10);
  },
);
