import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { trips } from '../../../src/fleet/lists/trips.ts';
import { readList } from '../../../src/fleet/service.ts';
import type { Caller } from '../../../src/platform/db/guard.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { dayMs } from '../../../src/platform/durations.ts';
import {
  emptyArchive,
  insertRecords,
  insertTrips,
  interruptedAfter,
  lapse,
  listsOf,
  move,
  walk,
  withoutArchive,
} from '../../support/archive.ts';
import { runs } from '../../support/runs.ts';
import { world, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara'] });
const caller: Caller = us;

const vehicles = Array.from({ length: 12 }, () => newId());
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
  fc.record({ day: fc.nat(days - 1), connection: fc.nat(1), steps: fc.oneof(fc.nat(12), fc.constant(1000)) }),
  { maxLength: 8 },
);
const time = fc.tuple(fc.nat(days), fc.nat(5)).map(([day, at]) => [new Date(day * dayMs + at).toISOString()]);
const query = fc.record(
  {
    limit: fc.integer({ min: 1, max: 20 }).map((limit) => [String(limit)]),
    vehicleIds: fc.uniqueArray(fc.constantFrom(...vehicles), { minLength: 1, maxLength: 11 }),
    driverIds: fc.constantFrom(...drivers.slice(1)).map((id) => [id ?? '']),
    from: time,
    to: time,
  },
  { requiredKeys: ['limit'] },
);
const ever = { from: ['1970-01-01'], to: ['1970-01-07'] };
const get = env.ARCHIVE.get.bind(env.ARCHIVE);
const byOne = fc.boolean().map((one) => (one ? 0 : undefined));

describe('a list over the archive and D1', () => {
  it('over many connections holds a few files at a time, and reads none that its page ends before', async () => {
    const count = 45;
    const many = await world({ providers: Array.from({ length: count }, () => 'motive') });
    await emptyArchive();
    const seeds = Array.from({ length: 3 * count }, (_, i) => ({
      startedAt: i * 60_000,
      connection: i % count,
    }));
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
      [4, 10],
      [30, count],
    ]) {
      reads = 0;
      const page = await readList(env, many, trips.list, {
        connectionId: undefined,
        query: { limit: [String(limit)] },
      });
      expect(page.items.map((item) => (item as { id: string }).id)).toEqual(ids.slice(0, limit));
      expect(reads).toBeLessThanOrEqual(Number(needed));
      expect(most).toBeLessThanOrEqual(6);
    }
    const [late = ''] = await insertTrips(many, [{ startedAt: 42.5 * 60_000 }]);
    const from = [new Date(count * 60_000).toISOString()];
    for (const limit of ['7', '500']) {
      const read = (query: object, descending = false) =>
        walk(env, many, trips.list, { query: { limit: [limit], ...query }, descending });
      const listed = ({ items }: { items: unknown[] }) => items.map((item) => (item as { id: string }).id);
      expect(listed(await read({ from }))).toEqual(ids.slice(count));
      expect(listed(await read({ to: from }, true)).toReversed()).toEqual(
        ids.slice(0, count).toSpliced(43, 0, late),
      );
    }
  });

  it('is the one that D1 alone would have, whatever is archived and wherever a move was interrupted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('trips', 'safety_events'),
        fc.array(seed, { maxLength: 60 }),
        moves,
        fc.array(fc.tuple(query, byOne, fc.boolean()), { minLength: 1, maxLength: 4 }),
        async (table, seeds, moving, requests) => {
          await emptyArchive();
          await insertRecords(table, us, seeds);
          const list = listsOf[table];
          const asked = requests
            .map(([query, one, descending]) => ({
              query: table === 'trips' ? query : { ...ever, ...query },
              connectionId: one === undefined ? undefined : us.connections[one]?.id,
              descending,
            }))
            .filter(({ query: { from, to } }) => !from || !to || String(from) < String(to));
          const expected = [];
          for (const request of asked)
            expected.push((await walk(withoutArchive, caller, list, request)).items);
          for (const { day, connection, steps } of moving) {
            const sizes = { part: 5, group: 2 };
            const options = { table, connection, sizes, bindings: interruptedAfter(steps) };
            await move(us, day * dayMs, options).catch((error) =>
              expect(String(error)).toContain('interrupted'),
            );
            await lapse();
          }
          for (const [at, request] of asked.entries()) {
            const { items, pages } = await walk(env, caller, list, request);
            expect(items).toEqual(expected[at]);
            expect(Math.max(...pages)).toBeLessThanOrEqual(Number(request.query.limit));
          }
        },
      ),
      { numRuns: runs(30) },
    );
  }, 600_000);
});
