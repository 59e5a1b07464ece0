import { env } from 'cloudflare:workers';
import { archive } from '#src/extras/archive/job.ts';
import { addRows, dayMs, listenToLog, operator, rows, times, worldBefore } from '#test/support.ts';
import { bucket, emptyArchive, files, insertTrips, listedTrips, move } from './support.ts';

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

const listed = async () => (await listedTrips(us)).map(({ id }) => id);
/** Has so many trips of the day come in, 10 ms apart. */
const happen = (count: number, at = 10 * dayMs) =>
  insertTrips(
    us,
    times(count, (i) => ({ startedAt: at + 10 * i })),
  );
const moveDay = (day = 10) => move(us, day * dayMs, { sizes });
async function firstFile() {
  const [key = ''] = await files();
  return { key, bytes: (await (await bucket.get(key))?.arrayBuffer()) ?? '' };
}

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
  expect(await files('date=1970-01-12')).toHaveLength(1);
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
  const before = await listedTrips(us);
  expect(before[0]).toMatchObject({ distanceKm: 99 });
  await bucket.put(key, replaced); // as if the move had been interrupted before it deleted this
  await bucket.put(key.replace(/part-.{8}/, 'part-00000000'), replaced);
  await rows('delete from archived_days');
  expect((await repair({ apply: true })).data).toMatchObject({ bucket: { files: 1, records: 5 } });
  expect(await listedTrips(us)).toEqual(before);
  expect(await files('date=1970-01-11')).toHaveLength(1);
});

describe('a file that cannot be read', () => {
  /** Archives a day of 12 trips. Returns their ids, and the first file. */
  async function archived() {
    const ids = await happen(12);
    await moveDay();
    return { ids, ...(await firstFile()) };
  }

  it.each([
    ['is missing', (key: string) => bucket.delete(key)],
    ['is damaged', (key: string) => bucket.put(key, 'damaged').then(() => {})],
  ])(
    'and %s is 503 and an error line, changes nothing, and its day is there again when the file is',
    async (_, damage) => {
      const { lines } = listenToLog();
      const { ids, key, bytes } = await archived();
      await damage(key);
      const reply = await us.lists.get('/trips?from=1970-01-01&to=1970-02-01');
      expect(reply).toMatchObject({ status: 503, retryAfter: 60 });
      const message = 'A file of the archive cannot be read';
      expect(lines('fault')).toMatchObject([{ message, key, level: 'error' }]);
      const [late = ''] = await happen(1, 10 * dayMs + 7);
      await archive(env);
      await bucket.put(key, bytes);
      await archive(env);
      expect(await listed()).toEqual(ids.toSpliced(1, 0, late));
    },
  );

  it('that nobody knows is left alone', async () => {
    const { key } = await archived();
    const foreign = key.replace(/[^/]*$/, 'part-of-somebody.parquet');
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
