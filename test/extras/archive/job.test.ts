import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { trips } from '#src/core/fleet/lists/trips.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { through } from '#src/core/platform/db/through.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { newBudget } from '#src/core/platform/jobs/budget.ts';
import type { Part } from '#src/extras/archive/bucket.ts';
import { catalogued, filesPerRow, inArchive, putEntry } from '#src/extras/archive/catalog.ts';
import { maxCharacters } from '#src/extras/archive/files.ts';
import { archive } from '#src/extras/archive/job.ts';
import {
  bucket,
  emptyArchive,
  insertTrips,
  interruptedAfter,
  lapse,
  move,
  walk,
  withoutArchive,
} from '#test/extras/archive/support.ts';
import { listenToLog } from '#test/support/log.ts';
import { safetyEvent, trip, vehicle } from '#test/support/records.ts';
import { addRows, rows, value } from '#test/support/rows.ts';
import { world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach);
beforeEach(emptyArchive);

const day = 100 * dayMs;
const sizes = { part: 5, group: 2 };
const hot = () => value<number>('select count(*) from trips');
const files = async () => (await bucket.list()).objects.map(({ key }) => key);
const listed = async (query = {}) => (await walk(env, us, trips.list, { query })).items as Item[];
type Item = Record<string, unknown> & { id: string };
const ids = (items: Item[]) => items.map(({ id }) => id);

const seeds = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ startedAt: day + i * 60_000 }));

/** Whether the day was moved in so few steps; otherwise the move was interrupted then. */
async function movedBefore(steps: number): Promise<boolean> {
  try {
    await move(us, day, { sizes, bindings: interruptedAfter(steps) });
    return true;
  } catch (error) {
    expect(String(error)).toContain('interrupted');
    return false;
  }
}

describe('moving a day', () => {
  it('leaves its rows in files of their own, and none in D1', async () => {
    const inserted = await insertTrips(us, [...seeds(12), { startedAt: day + dayMs }]);
    await move(us, day, { sizes });
    expect(await hot()).toBe(1);
    const folder = `kind=trips/account=${us.accountId}/connection=${us.connection.id}/date=1970-04-11/`;
    expect(await files()).toEqual(
      [1, 2, 3].map(() => expect.stringMatching(new RegExp(`^${folder}part-.*\\.parquet$`))),
    );
    expect(ids(await listed())).toEqual(inserted);
  });

  it('pauses after each file, so that others have half of the database', async () => {
    await insertTrips(us, seeds(12));
    const pause = vi.spyOn(scheduler, 'wait');
    await move(us, day, { sizes });
    expect(pause).toHaveBeenCalledTimes(3);
  });

  it('of many files has several rows in the catalog, each of which can be restored', async () => {
    const inserted = await insertTrips(us, seeds(12));
    await move(us, day, { sizes });
    const whole = {
      kind: 'trips',
      accountId: us.accountId,
      connectionId: us.connection.id,
      day: 100,
    };
    const named = await catalogued(openDatabase(env), whole);
    const put = async (parts: Part[]) => {
      await inArchive(env, ({ db, commit }) => commit(...putEntry(db, whole, parts)));
      expect(await catalogued(openDatabase(env), whole)).toEqual(parts);
      return rows('select piece, length(parts) as bytes from archived_days order by piece');
    };
    const [first] = named as [Part];
    const position = { sort: day + dayMs - 1, id: crypto.randomUUID() };
    const large = { ...first, bytes: 10_000_000, first: position, last: position };
    const pieces = await put([...named, ...Array(2 * filesPerRow).fill(large)]);
    expect(pieces.map(({ piece }) => piece)).toEqual([0, 1, 2]);
    for (const { bytes } of pieces) expect(bytes).toBeLessThanOrEqual(filesPerRow * 300);
    expect(await put(named)).toHaveLength(1);
    await rows(
      'insert into archived_days select kind, account_id, connection_id, day, 1, ?1 from archived_days',
      JSON.stringify(named.slice(1)),
    );
    await rows(
      'update archived_days set parts = ?1 where piece = 0',
      JSON.stringify(named.slice(0, 1)),
    );
    expect(ids(await listed())).toEqual(inserted);
    expect(await put([])).toEqual([]);
  });

  it.each([
    ['a day', false],
    ['what came in late', true],
  ])('%s may be interrupted between any two steps, and run again', async (_, isLate) => {
    for (let [steps, done] = [0, false]; !done; steps++) {
      await emptyArchive();
      let inserted = await insertTrips(us, seeds(12));
      if (isLate) {
        await move(us, day, { sizes });
        const [late = ''] = await insertTrips(us, [{ startedAt: day + 90_000 }]);
        inserted = inserted.toSpliced(2, 0, late);
      }
      done = await movedBefore(steps);
      await lapse();
      expect(ids(await listed())).toEqual(inserted);
      await move(us, day, { sizes });
      expect(ids(await listed())).toEqual(inserted);
      expect([await hot(), (await files()).length]).toEqual([0, isLate ? 4 : 3]);
    }
  });

  it('may go on while a list is read, which shows each row once', async () => {
    for (let [steps, done] = [0, false]; !done; steps++) {
      await emptyArchive();
      const inserted = await insertTrips(us, seeds(12));
      done = await movedBefore(steps);
      await lapse();
      let calls = 0;
      const DB = through(env.DB, async (run) => {
        if (++calls === 2) await move(us, day, { sizes });
        return run();
      });
      const { items } = await walk({ ...env, DB }, us, trips.list, { query: {} });
      expect(ids(items as Item[])).toEqual(inserted);
    }
  });

  it('reads each of its files a few times, however many there are', async () => {
    const count = 30;
    await insertTrips(us, seeds(count * sizes.part));
    const get = vi.spyOn(env.ARCHIVE, 'get');
    await move(us, day, { sizes });
    expect(await files()).toHaveLength(count);
    expect(get.mock.calls.length).toBeLessThanOrEqual(3 * count);
  });

  it('makes smaller files of large rows', async () => {
    const characters = 10_000;
    await insertTrips(us, seeds(maxCharacters / characters + 100));
    await rows(
      `update trips set start_location = json_object('latitude', 1, 'address', hex(randomblob(?1)))`,
      characters / 2,
    );
    await move(us, day);
    expect(await files()).toHaveLength(2);
    expect(await hot()).toBe(0);
  });

  it('is done by one at a time', async () => {
    const both = await inArchive(env, () => inArchive(env, async () => 'never'));
    expect(both).toEqual({ result: 'busy' });
  });

  it('writes nothing more once the lease has passed to somebody else', async () => {
    await insertTrips(us, seeds(1));
    const late = inArchive(env, async ({ db, commit }) => {
      await rows('update jobs set holder = ?1', newId());
      await commit(db.run(sql`delete from trips`));
    });
    await expect(late).rejects.toThrow();
    expect(await hot()).toBe(1);
  });
});

it('what comes in late is shown once, and merged into its file, the newer version winning', async () => {
  const update = (id: string | undefined, set: string) =>
    rows(`update trips set ${set} where id = ?1`, id);
  const inserted = await insertTrips(us, seeds(12));
  await rows('update trips set source_updated_at = 1000');
  await move(us, day, { sizes });
  const before = await files();
  const [newer, older, unchanged] = [inserted[3], inserted[4], inserted[2]];
  await insertTrips(us, [
    { id: newer ?? '', startedAt: day + 3 * 60_000 },
    { id: older ?? '', startedAt: day + 4 * 60_000 },
    { id: unchanged ?? '', startedAt: day + 2 * 60_000, vehicle: unchanged ?? '' },
    { id: newId(), startedAt: day + 90_000 },
  ]);
  await update(
    newer,
    'distance_km = 99, source_updated_at = 2000, created_at = 50, updated_at = 60',
  );
  await update(
    older,
    'distance_km = 98, source_updated_at = 500, created_at = 50, updated_at = 60',
  );
  await update(unchanged, 'source_updated_at = 1000, created_at = 50, updated_at = 60');
  const shown = async () =>
    (await listed()).map(({ id, distanceKm, createdAt }) => ({ id, distanceKm, createdAt }));
  const early = await shown();
  expect(early).toHaveLength(13);
  const find = (id: string | undefined) => early.find((item) => item.id === id);
  expect(find(newer)).toMatchObject({ distanceKm: 99, createdAt: '1970-01-01T00:00:00.005Z' });
  expect(find(older)).toMatchObject({ distanceKm: 12.25 });
  await move(us, day, { sizes });
  expect(await shown()).toEqual(early);
  expect(await hot()).toBe(0);
  const after = await files();
  // Of three files, only the first one was written again; it was full, so that there are two of it now.
  expect(after.filter((file) => before.includes(file))).toHaveLength(2);
  expect(after).toHaveLength(4);
});

describe('the job', () => {
  const old = new Date(Date.now() - 200 * dayMs).toISOString();
  const recent = new Date(Date.now() - 3 * dayMs).toISOString();
  const range = `from=2020-01-01&to=2100-01-01`;
  const read = async (path: string) => (await us.lists.get(`${path}?${range}`)).data;
  const send = (...records: object[]) =>
    us.send(
      vehicle(),
      { kind: 'driver', sourceId: 'ann', name: 'Ann' },
      trip({ sourceId: 'old', startedAt: old, startLocation: { latitude: 1, longitude: -2.5 } }),
      trip({ startedAt: recent }),
      safetyEvent({
        sourceId: 'old',
        startedAt: old,
        driver: 'ann',
        incidentTypes: ['hard_brake', 'Ä"q'],
      }),
      safetyEvent({
        startedAt: recent,
        location: { latitude: 3, longitude: 4 },
        maxSpeedKph: 90.5,
      }),
      ...records,
    );

  it('moves what is older than the hot days, and the lists stay as they were', async () => {
    await send();
    const before = [await read('/trips'), await read('/safety-events')];
    await archive(env);
    expect(await rows('select 1 from safety_events')).toHaveLength(1);
    expect([await hot(), (await files()).length]).toEqual([1, 2]);
    expect([await read('/trips'), await read('/safety-events')]).toEqual(before);
  });

  it('does nothing without a bucket, or with HOT_DAYS = 0', async () => {
    await send();
    await archive(withoutArchive);
    await archive({ ...env, HOT_DAYS: '0' as '30' });
    expect([await hot(), await files()]).toEqual([2, []]);
  });

  it('takes a day of each account in turn, and stops for none that fail', async () => {
    const [large, small] = [await world(), await world()];
    const connections = Array.from({ length: 25 }, () => ({ id: newId(), ingestKey: '' }));
    const of = { account_id: large.accountId, provider: 'motive' };
    await addRows('connections', connections.length, (i) => ({ ...of, id: connections[i]?.id }));
    const insert = async (changes: string) => {
      await emptyArchive();
      const days = connections.map((_, connection) => ({ startedAt: day, connection }));
      await insertTrips({ ...large, connections }, days);
      await rows(`update trips set ${changes}`);
      await insertTrips(small, [{ startedAt: day }]);
    };
    const budget = () => newBudget({ ms: 60_000 });

    await insert('distance_km = 1');
    const put = vi.spyOn(env.ARCHIVE, 'put');
    await archive(env, Date.now(), budget());
    const isSmall = put.mock.calls.map(([key]) => key.includes(small.accountId));
    expect(isSmall).toHaveLength(connections.length + 1);
    expect(isSmall.slice(0, 2)).toContain(true);

    await insert(`start_location = 'null'`);
    const { lines } = listenToLog();
    await archive(env, Date.now(), budget());
    expect([await hot(), (await files()).length]).toEqual([connections.length, 1]);
    const failed = lines('fault').map(({ connectionId }) => connectionId);
    expect(failed.toSorted()).toEqual(connections.map(({ id }) => id).toSorted());
  });
});
