import { env } from 'cloudflare:workers';
import { trips } from '#src/core/fleet/lists/trips.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { archive } from '#src/extras/archive/job.ts';
import { bucket, emptyArchive, insertTrips, move, walk } from '#test/extras/archive/support.ts';
import { listenToLog } from '#test/support/log.ts';
import { addRows, rows } from '#test/support/rows.ts';
import { operator, worldBefore } from '#test/support/world.ts';

// The database goes back in time, and the bucket does not.

const us = worldBefore(beforeAll);
beforeEach(emptyArchive);

const sizes = { part: 5, group: 2 };
const tables = ['trips', 'archived_days'];

async function exportDatabase(): Promise<() => Promise<void>> {
  const saved = await Promise.all(tables.map((table) => rows(`select * from ${table}`)));
  return async () => {
    for (const [at, table] of tables.entries()) {
      await rows(`delete from ${table}`);
      const before = saved[at] ?? [];
      await addRows(table, before.length, (i) => before[i] ?? {});
    }
  };
}

const items = async () =>
  (await walk(env, us, trips.list, { query: {} })).items as { id: string }[];
const listed = async () => (await items()).map(({ id }) => id);
/** Has so many trips of the day come in, 10 ms apart. */
const happen = (count: number, at = 10 * dayMs) =>
  insertTrips(
    us,
    Array.from({ length: count }, (_, i) => ({ startedAt: at + 10 * i })),
  );
const moveDay = (day = 10) => move(us, day * dayMs, { sizes });
async function firstFile() {
  const [{ key = '' } = {}] = (await bucket.list()).objects;
  return { key, bytes: (await (await bucket.get(key))?.arrayBuffer()) ?? new ArrayBuffer() };
}
const filesOfDay = async (date: string) =>
  (await bucket.list()).objects.filter(({ key }) => key.includes(`date=${date}`)).length;

it('days that were archived since are read from D1, and archived again', async () => {
  for (const day of [10, 11]) await happen(10, day * dayMs);
  await moveDay();
  const restore = await exportDatabase();
  const before = await listed();
  await moveDay(11);
  await restore();
  expect(await listed()).toEqual(before);
  await archive(env);
  expect(await listed()).toEqual(before);
  expect(await filesOfDay('1970-01-12')).toBe(1);
  expect(await rows('select 1 from trips')).toEqual([]);
});

const repair = (body: object) =>
  operator.post<{ catalog: object; bucket: object; applied: boolean }>(
    `/operator/connections/${us.connection.id}/archive/repair`,
    { kind: 'trips', date: '1970-01-11', ...body },
  );
const unavailable = { failure: { kind: 'unavailable', retryAfter: 60 } };

it('files that were written again are found once the catalog is repaired', async () => {
  await happen(12);
  await moveDay();
  const restore = await exportDatabase();
  await happen(1, 10 * dayMs + 5);
  await moveDay();
  const after = await listed();
  await restore();
  const [late = ''] = await happen(1, 10 * dayMs + 6);
  await expect(listed()).rejects.toMatchObject(unavailable);
  await expect(moveDay()).rejects.toThrow('cannot be read');
  expect((await repair({})).data).toEqual({
    catalog: { files: 3, records: 12 },
    bucket: { files: 4, records: 13 },
    applied: false,
  });
  await expect(listed()).rejects.toMatchObject(unavailable);
  expect((await repair({ apply: true })).data.applied).toBe(true);
  await moveDay();
  expect(await listed()).toEqual(after.toSpliced(2, 0, late));
  expect(await rows('select 1 from trips')).toEqual([]);
});

it('a repair takes each record from the newest file that has it, and leaves no other', async () => {
  const [id = ''] = await happen(5);
  await moveDay();
  const { key, bytes: replaced } = await firstFile();
  await insertTrips(us, [{ id, startedAt: 10 * dayMs }]);
  await rows('update trips set distance_km = 99, updated_at = 9');
  await moveDay();
  const before = await items();
  expect(before[0]).toMatchObject({ distanceKm: 99 });
  await bucket.put(key, replaced); // as if the move had been interrupted before it deleted this
  await bucket.put(key.replace(/part-.{8}/, 'part-00000000'), replaced);
  await rows('delete from archived_days');
  expect((await repair({ apply: true })).data).toMatchObject({ bucket: { files: 1, records: 5 } });
  expect(await items()).toEqual(before);
  expect(await filesOfDay('1970-01-11')).toBe(1);
});

describe('a file that cannot be read', () => {
  /** Archives a day of 12 trips. Returns their ids, and the object of the first file. */
  async function archived() {
    const ids = await happen(12);
    await moveDay();
    const { key, bytes } = await firstFile();
    return { ids, key, restore: () => bucket.put(key, bytes) };
  }

  it.each([
    ['is missing', (key: string) => bucket.delete(key)],
    ['is damaged', (key: string) => bucket.put(key, 'damaged').then(() => {})],
  ])(
    'and %s is 503 and an error line, changes nothing, and its day is there again when the file is',
    async (_, damage) => {
      const { lines } = listenToLog();
      const { ids, key, restore } = await archived();
      await damage(key);
      const reply = await us.lists.get('/trips?from=1970-01-01&to=1970-02-01');
      expect(reply).toMatchObject({ status: 503, retryAfter: 60 });
      expect(lines('fault')).toContainEqual(
        expect.objectContaining({
          message: 'A file of the archive cannot be read',
          key,
          level: 'error',
        }),
      );
      await happen(1, 10 * dayMs + 7);
      await archive(env);
      await restore();
      await archive(env);
      expect(await listed()).toEqual(expect.arrayContaining(ids));
      expect(await listed()).toHaveLength(13);
    },
  );

  it('that nobody knows is left alone', async () => {
    await archived();
    const foreign = (await firstFile()).key.replace(/[^/]*$/, 'part-of-somebody.parquet');
    await bucket.put(foreign, 'not ours');
    await happen(1, 10 * dayMs + 7);
    await moveDay();
    expect(await bucket.head(foreign)).not.toBeNull();
  });
});

it('a day without an archive has no files, and what is no kind or date is refused', async () => {
  const none = { files: 0, records: 0 };
  const nothing = { catalog: none, bucket: none, applied: false };
  expect((await repair({ date: '1970-01-20' })).data).toEqual(nothing);
  expect(await repair({ kind: 'vehicles' })).toMatchObject({ errors: [{ field: 'kind' }] });
  expect(await repair({ date: 'yesterday' })).toMatchObject({ errors: [{ field: 'date' }] });
});
