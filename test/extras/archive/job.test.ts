import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { newBudget } from '#src/core/platform/jobs/budget.ts';
import type { Part } from '#src/extras/archive/bucket.ts';
import { catalogued, filesPerRow, inArchive, putEntry } from '#src/extras/archive/catalog.ts';
import { maxCharacters } from '#src/extras/archive/files.ts';
import { archive } from '#src/extras/archive/job.ts';
import {
  addRows,
  ago,
  dayMs,
  driver,
  listenToLog,
  newId,
  openDatabase,
  rows,
  safetyEvent,
  through,
  times,
  trip,
  value,
  vehicle,
  world,
  worldBefore,
} from '#test/support.ts';
import {
  emptyArchive,
  files,
  insertTrips,
  interruptedAfter,
  lapse,
  listedTrips,
  move,
  withoutArchive,
} from './support.ts';

const us = worldBefore(beforeEach);
beforeEach(emptyArchive);

const day = 100 * dayMs;
const sizes = { part: 5, group: 2 };
const hot = () => value<number>('select count(*) from trips');
const listedIds = async (bindings = env) => (await listedTrips(us, bindings)).map(({ id }) => id);

const moveNow = (bindings = env) => move(us, day, { sizes, bindings });
const seeds = (count: number) => times(count, (i) => ({ startedAt: day + i * 60_000 }));

/** Whether the day was moved in so few steps; otherwise the move was interrupted then. */
async function movedBefore(steps: number) {
  try {
    await moveNow(interruptedAfter(steps));
    return true;
  } catch (error) {
    expect(String(error)).toContain('interrupted');
    return false;
  }
}

describe('moving a day', () => {
  it('leaves its rows in files of their own, and none in D1', async () => {
    const inserted = await insertTrips(us, [...seeds(12), { startedAt: day + dayMs }]);
    await moveNow();
    expect(await hot()).toBe(1);
    const folder = `kind=trips/account=${us.accountId}/connection=${us.connection.id}/date=1970-04-11/`;
    expect(await files()).toEqual(
      [1, 2, 3].map(() => expect.stringMatching(new RegExp(`^${folder}part-.*\\.parquet$`))),
    );
    expect(await listedIds()).toEqual(inserted);
  });

  it('pauses after each file, so that others have half of the database', async () => {
    await insertTrips(us, seeds(12));
    const pause = vi.spyOn(scheduler, 'wait');
    await moveNow();
    expect(pause.mock.calls.length).toBeGreaterThanOrEqual(3);
  });

  it('of many files has several rows in the catalog, each of which can be restored', async () => {
    const inserted = await insertTrips(us, seeds(12));
    await moveNow();
    const { accountId, connection } = us;
    const whole = { kind: 'trips', accountId, connectionId: connection.id, day: 100 };
    const named = await catalogued(openDatabase(env), whole);
    const put = async (parts: Part[]) => {
      await inArchive(env, ({ db, commit }) => commit(...putEntry(db, whole, parts)));
      expect(await catalogued(openDatabase(env), whole)).toEqual(parts);
      return rows('select piece, length(parts) as bytes from archived_days order by piece');
    };
    const position = { sort: day + dayMs - 1, id: crypto.randomUUID() };
    const large = { ...named[0], bytes: 10_000_000, first: position, last: position } as Part;
    const pieces = await put([...named, ...Array(2 * filesPerRow).fill(large)]);
    expect(pieces.map(({ piece }) => piece)).toEqual([0, 1, 2]);
    for (const { bytes } of pieces) expect(bytes).toBeLessThanOrEqual(filesPerRow * 300);
    expect(await put(named)).toHaveLength(1);
    const copied = 'insert into archived_days select kind, account_id, connection_id, day, 1, ?1';
    await rows(`${copied} from archived_days`, JSON.stringify(named.slice(1)));
    const first = JSON.stringify(named.slice(0, 1));
    await rows('update archived_days set parts = ?1 where piece = 0', first);
    expect(await listedIds()).toEqual(inserted);
    expect(await put([])).toEqual([]);
  });

  it.each([
    ['a day', false],
    ['what came in late', true],
  ])(
    '%s may be interrupted between any two steps, and run again',
    { tags: ['proof'] },
    async (_, isLate) => {
      for (let [steps, done] = [0, false]; !done; steps++) {
        await emptyArchive();
        let inserted = await insertTrips(us, seeds(12));
        if (isLate) {
          await moveNow();
          const [late = ''] = await insertTrips(us, [{ startedAt: day + 90_000 }]);
          inserted = inserted.toSpliced(2, 0, late);
        }
        done = await movedBefore(steps);
        await lapse();
        expect(await listedIds()).toEqual(inserted);
        await moveNow();
        expect(await listedIds()).toEqual(inserted);
        expect([await hot(), (await files()).length]).toEqual([0, isLate ? 4 : 3]);
      }
    },
  );

  it('may go on while a list is read, which shows each row once', { tags: ['proof'] }, async () => {
    for (let [steps, done] = [0, false]; !done; steps++) {
      await emptyArchive();
      const inserted = await insertTrips(us, seeds(12));
      done = await movedBefore(steps);
      await lapse();
      let calls = 0;
      const DB = through(env.DB, async (run) => {
        if (++calls === 2) await moveNow();
        return run();
      });
      expect(await listedIds({ ...env, DB })).toEqual(inserted);
    }
  });

  it('reads each of its files a few times, however many there are', {
    tags: ['proof'],
  }, async () => {
    const count = 30;
    await insertTrips(us, seeds(count * sizes.part));
    const get = vi.spyOn(env.ARCHIVE, 'get');
    await moveNow();
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
  const inserted = await insertTrips(us, seeds(12));
  await rows('update trips set source_updated_at = 1000');
  await moveNow();
  const before = await files();
  const [, , unchanged = '', newer = '', older = ''] = inserted;
  const again = [unchanged, newer, older].map((id, i) => ({
    id,
    startedAt: day + (2 + i) * 60_000,
  }));
  await insertTrips(us, [...again, { startedAt: day + 90_000 }]);
  const update = (id: string, set: string) =>
    rows(`update trips set created_at = 50, updated_at = 60, ${set} where id = ?1`, id);
  await update(newer, 'distance_km = 99, source_updated_at = 2000');
  await update(older, 'distance_km = 98, source_updated_at = 500');
  await update(unchanged, `source_updated_at = 1000, vehicle_id = 'another'`);
  const shown = async () =>
    (await listedTrips(us)).map(({ id, distanceKm, createdAt }) => ({ id, distanceKm, createdAt }));
  const early = await shown();
  expect(early).toHaveLength(13);
  const createdAt = '1970-01-01T00:00:00.005Z';
  for (const [id, distanceKm] of [
    [newer, 99],
    [older, 12.25],
  ])
    expect(early).toContainEqual({ id, distanceKm, createdAt });
  await moveNow();
  expect(await shown()).toEqual(early);
  expect(await hot()).toBe(0);
  const after = await files();
  // Of three files, only the first one was written again; it was full, so that there are two of it now.
  expect(after.filter((file) => before.includes(file))).toHaveLength(2);
  expect(after).toHaveLength(4);
});

describe('the job', () => {
  const at = (days: number) => ago(days * dayMs);
  const send = () =>
    us.send(
      vehicle(),
      driver(),
      ...[200, 3].flatMap((days) => [
        trip({
          sourceId: `${days}`,
          startedAt: at(days),
          startLocation: { latitude: 1, longitude: -2.5 },
        }),
        safetyEvent({
          sourceId: `${days}`,
          startedAt: at(days),
          driver: 'driver-1',
          maxSpeedKph: 90.5,
          incidentTypes: ['hard_brake', 'Ä"q'],
        }),
      ]),
    );
  const read = () =>
    Promise.all(
      ['trips', 'safety-events'].map(
        async (list) => (await us.lists.get(`/${list}?from=2020-01-01&to=2100-01-01`)).data,
      ),
    );

  it('moves what is older than the hot days, and the lists stay as they were', async () => {
    await send();
    const before = await read();
    await archive(env);
    expect(await rows('select 1 from safety_events')).toHaveLength(1);
    expect([await hot(), (await files()).length]).toEqual([1, 2]);
    expect(await read()).toEqual(before);
  });

  it('does nothing without a bucket, or with HOT_DAYS = 0', async () => {
    await send();
    await archive(withoutArchive);
    await archive({ ...env, HOT_DAYS: '0' as '30' });
    expect([await hot(), await files()]).toEqual([2, []]);
  });

  it('takes a day of each account in turn, and stops for none that fail', async () => {
    const [large, small] = [await world(), await world()];
    const connections = times(25, () => ({ ...large.connection, id: newId() }));
    const of = { account_id: large.accountId, provider: 'motive' };
    await addRows('connections', 25, (i) => ({ ...of, id: connections[i]?.id }));
    const archiveWith = async (change: string) => {
      await emptyArchive();
      const seeds = connections.map((_, connection) => ({ startedAt: day, connection }));
      await insertTrips({ ...large, connections }, seeds);
      await rows(`update trips set ${change}`);
      await insertTrips(small, [{ startedAt: day }]);
      await archive(env, Date.now(), newBudget({ ms: 60_000 }));
    };

    const put = vi.spyOn(env.ARCHIVE, 'put');
    await archiveWith('distance_km = 1');
    const isSmall = put.mock.calls.map(([key]) => key.includes(small.accountId));
    expect(isSmall).toHaveLength(26);
    expect(isSmall.slice(0, 2)).toContain(true);

    const { lines } = listenToLog();
    await archiveWith(`start_location = 'null'`);
    expect([await hot(), (await files()).length]).toEqual([25, 1]);
    const failed = lines('fault').map(({ connectionId }) => connectionId);
    expect(failed.toSorted()).toEqual(connections.map(({ id }) => id).toSorted());
  });
});
