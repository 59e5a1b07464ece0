import { env } from 'cloudflare:workers';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { archive } from '../../../src/fleet/archive/job.ts';
import { archiveKinds } from '../../../src/fleet/lists/registry.ts';
import { trips } from '../../../src/fleet/lists/trips.ts';
import type { Caller } from '../../../src/platform/db/guard.ts';
import { bucket, dayMs, emptyArchive, insertTrips, move, walk } from '../../support/archive.ts';
import { rows } from '../../support/rows.ts';
import { type World, world } from '../../support/world.ts';

// The database goes back in time, and the bucket does not.

let us: World;
let caller: Caller;
beforeAll(async () => {
  us = await world();
  caller = { tokenId: us.tokenId, accountId: us.accountId };
});
beforeEach(emptyArchive);

const sizes = { part: 5, group: 2 };
const tables = ['trips', 'archived_days'];

/** Everything that the tables have, to be put back later. */
async function exportDatabase(): Promise<() => Promise<void>> {
  const saved = await Promise.all(tables.map((table) => rows(`select * from ${table}`)));
  return async () => {
    for (const [at, table] of tables.entries()) {
      await rows(`delete from ${table}`);
      for (const row of saved[at] ?? []) {
        const names = Object.keys(row);
        const places = names.map((_, place) => `?${place + 1}`);
        await rows(`insert into ${table} (${names}) values (${places})`, ...Object.values(row));
      }
    }
  };
}

const listed = async () =>
  (await walk(env, caller, trips.list, { query: {} })).items.map((item) => (item as { id: string }).id);
const filesOfDay = async (date: string) =>
  (await bucket.list()).objects.filter(({ key }) => key.includes(`date=${date}`)).length;

it('days that were archived since are read from D1, and archived again without anything twice', async () => {
  const seeds = Array.from({ length: 20 }, (_, i) => ({ startedAt: (10 + (i % 2)) * dayMs + i }));
  await insertTrips(us, seeds);
  await move(us, 10 * dayMs, { sizes });
  const restore = await exportDatabase();
  const before = await listed();
  await move(us, 11 * dayMs, { sizes });
  await restore();
  expect(await listed()).toEqual(before);
  await archive(env, archiveKinds);
  expect(await listed()).toEqual(before);
  expect(await filesOfDay('1970-01-12')).toBe(1);
  expect(await rows('select 1 from trips')).toEqual([]);
});

it('files that were written again since are found, by readers and by the job', async () => {
  await insertTrips(
    us,
    Array.from({ length: 12 }, (_, i) => ({ startedAt: 10 * dayMs + 10 * i })),
  );
  await move(us, 10 * dayMs, { sizes });
  const restore = await exportDatabase();
  await insertTrips(us, [{ startedAt: 10 * dayMs + 5 }]);
  await move(us, 10 * dayMs, { sizes });
  const after = await listed();
  await restore();
  expect(await listed()).toEqual(after);
  expect(after).toHaveLength(13);

  await restore();
  const [late = ''] = await insertTrips(us, [{ startedAt: 10 * dayMs + 6 }]);
  await move(us, 10 * dayMs, { sizes });
  expect(await listed()).toEqual(after.toSpliced(2, 0, late));
  expect(await rows('select 1 from trips')).toEqual([]);
});
