import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { trips } from '#src/core/fleet/lists/trips.ts';
import { readList } from '#src/core/fleet/service.ts';
import { readAcross } from '#src/extras/archive/lists.ts';
import { dayMs, newId, runs, times, world, worldBefore } from '#test/support.ts';
import {
  emptyArchive,
  insertRecords,
  insertTrips,
  interruptedAfter,
  lapse,
  listsOf,
  move,
  walk,
} from './support.ts';

const us = worldBefore(beforeAll, 'motive', 'samsara');

const them = worldBefore(beforeAll);
/** Half of them end alike, so that the indexes cannot tell them apart. */
const vehicles = times(14, (i) =>
  i % 2 ? newId() : crypto.randomUUID().replace(/.{12}$/, '0123456789ab'),
);
const drivers = [null, newId(), newId()];
const days = 4;

const seed = fc.record({
  startedAt: fc.tuple(fc.nat(days - 1), fc.nat(5)).map(([day, at]) => day * dayMs + at),
  vehicle: fc.constantFrom(...vehicles),
  driver: fc.constantFrom(...drivers),
  connection: fc.nat(1),
  risk: fc.integer({ min: 1, max: 5 }),
});
/** Days that are moved, and after how many steps each move is interrupted. */
const moves = fc.array(
  fc.record({
    day: fc.nat(days - 1),
    connection: fc.nat(1),
    steps: fc.oneof(fc.nat(12), fc.constant(1000)),
  }),
  { maxLength: 8 },
);
const time = fc
  .tuple(fc.nat(days), fc.nat(5))
  .map(([day, at]) => [new Date(day * dayMs + at).toISOString()]);
const query = fc.record(
  {
    limit: fc.integer({ min: 1, max: 20 }).map((limit) => [String(limit)]),
    vehicleIds: fc.uniqueArray(fc.constantFrom(...vehicles), { minLength: 1, maxLength: 13 }),
    driverIds: fc.constantFrom(...drivers.slice(1)).map((id) => [id ?? '']),
    from: time,
    to: time,
    minEventRisk: fc.integer({ min: 1, max: 5 }).map((risk) => [String(risk)]),
  },
  { requiredKeys: ['limit'] },
);
const ever = { from: ['1970-01-01'], to: ['1970-01-07'] };
type Query = typeof query extends fc.Arbitrary<infer T> ? T : never;
type Seed = typeof seed extends fc.Arbitrary<infer T> ? T : never;

const passes = (one: Seed, { vehicleIds, driverIds, from, to, minEventRisk }: Partial<Query>) =>
  (!vehicleIds || vehicleIds.includes(one.vehicle)) &&
  (!driverIds || driverIds.includes(one.driver ?? '')) &&
  one.risk >= Number(minEventRisk ?? 0) &&
  one.startedAt >= Date.parse(String(from ?? ever.from)) &&
  one.startedAt < Date.parse(String(to ?? ever.to));
const idOf = (item: unknown) => (item as { id: string }).id;
const get = env.ARCHIVE.get.bind(env.ARCHIVE);
const byOne = fc.boolean().map((one) => (one ? 0 : undefined));

describe('a list over the archive and D1', () => {
  it('over many connections holds a few files at a time, and reads none in vain', {
    tags: ['proof'],
  }, async () => {
    const count = 45;
    const many = await world(...Array(count).fill('motive'));
    await emptyArchive();
    const seeds = times(3 * count, (i) => ({ startedAt: i * 60_000, connection: i % count }));
    const ids = await insertTrips(many, seeds);
    for (let connection = 0; connection < count; connection++) await move(many, 0, { connection });
    let [held, most, reads] = [0, 0, 0];
    vi.spyOn(env.ARCHIVE, 'get').mockImplementation(async (key) => {
      most = Math.max(most, ++held);
      reads += 1;
      const file = await get(key);
      await scheduler.wait(1);
      held -= 1;
      return file;
    });
    for (const [limit, needed] of [
      ['4', 10],
      ['30', count],
    ] as const) {
      reads = 0;
      const request = { connectionId: undefined, query: { limit: [limit] } };
      const page = await readList(env, many, trips.list, request, readAcross);
      expect(page.items.map(idOf)).toEqual(ids.slice(0, Number(limit)));
      expect(reads).toBeLessThanOrEqual(needed);
      expect(most).toBeLessThanOrEqual(6);
    }
    const [late = ''] = await insertTrips(many, [{ startedAt: 42.5 * 60_000 }]);
    const middle = [new Date(count * 60_000).toISOString()];
    for (const limit of ['7', '500']) {
      const read = async (query: object, descending = false) => {
        const asked = { query: { limit: [limit], ...query }, descending };
        return (await walk(env, many, trips.list, asked)).items.map(idOf);
      };
      expect(await read({ from: middle })).toEqual(ids.slice(count));
      const before = ids.slice(0, count).toSpliced(43, 0, late);
      expect(await read({ to: middle }, true)).toEqual(before.toReversed());
    }
  });

  it('has each record once, in order, whatever is archived, interrupted or added', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('trips', 'safety_events'),
        fc.array(seed, { maxLength: 60 }),
        fc.oneof(fc.constant([]), moves),
        fc.array(fc.array(seed, { maxLength: 4 }), { maxLength: 8 }),
        fc.array(fc.tuple(query, byOne, fc.boolean()), { minLength: 1, maxLength: 4 }),
        async (table, seeds, moving, inserts, requests) => {
          await emptyArchive();
          const ids = await insertRecords(table, us, seeds);
          const others = seeds.map((one) => ({ ...one, connection: 0 }));
          await insertRecords(table, them, others);
          for (const { day, connection, steps } of moving) {
            const sizes = { part: 5, group: 2 };
            const options = { table, connection, sizes, bindings: interruptedAfter(steps) };
            await move(us, day * dayMs, options).catch((error) =>
              expect(String(error)).toContain('interrupted'),
            );
            await lapse();
          }
          for (const [{ minEventRisk, ...narrow }, one, descending] of requests) {
            const asked =
              table === 'trips'
                ? narrow
                : { ...ever, ...narrow, ...(minEventRisk && { minEventRisk }) };
            const times = [asked.from, asked.to].map((time) => Date.parse(String(time)));
            if ((times[0] ?? 0) >= (times[1] ?? 0)) continue; // refused, as no range
            const expected = seeds
              .map((seed, at) => ({ ...seed, id: ids[at] ?? '' }))
              .filter((seed) => passes(seed, asked) && (one ?? seed.connection) === seed.connection)
              .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
              .map(idOf);
            const { items, pages } = await walk(
              env,
              us,
              listsOf[table],
              { query: asked, connectionId: us.connections[one ?? -1]?.id, descending },
              async () => void (await insertRecords(table, us, inserts.shift() ?? [])),
            );
            expect(Math.max(...pages)).toBeLessThanOrEqual(Number(asked.limit));
            const walked = items.map(idOf);
            expect(walked.filter((id) => ids.includes(id))).toEqual(
              descending ? expected.toReversed() : expected,
            );
            expect(new Set(walked).size).toBe(walked.length);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  }, 600_000);
});
