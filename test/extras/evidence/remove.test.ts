import { env } from 'cloudflare:workers';
import { archive } from '#src/extras/archive/job.ts';
import { leaseOf } from '#src/extras/evidence/copy.ts';
import { pruneJob } from '#src/extras/evidence/keep.ts';
import { pruneEvidence } from '#src/extras/evidence/remove.ts';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { emptyArchive, files, withoutArchive } from '#test/extras/archive/support.ts';
import {
  ago,
  call,
  dayMs,
  driver,
  hourMs,
  invalid,
  listenToLog,
  operator,
  ownRows,
  recordId,
  rows,
  trip,
  vehicle,
  type World,
  world,
  worldBefore,
} from '#test/support.ts';
import { copyAll, copyPart, crash, filesOf, keepFor, linked, media, video } from './support.ts';

const us = worldBefore(beforeEach, 'motive', 'samsara');
let them: World;
let theirs: string;
beforeEach(async () => {
  await rows('delete from evidence');
  await rows('delete from deletions');
  await emptyArchive();
  media();
  them = await world();
  for (const one of [us, them]) await keepFor(one, 30);
  theirs = await stored(them);
});

/** Stores the evidence of an accident, and returns the accident's id. */
async function stored(of: World, more: object = {}) {
  const { id } = await crash(of, undefined, { sourceId: crypto.randomUUID(), ...more });
  await copyAll(of);
  expect(await filesOf(of, id)).toMatchObject([{ state: 'stored' }]);
  return id;
}

/** Lets the files of an account expire. */
const expire = (accountId: string) =>
  rows(
    'update evidence set created_at = created_at - ?1 where account_id = ?2',
    31 * dayMs,
    accountId,
  );

/** Has a driver erased. */
async function erase(sourceId = 'driver-1') {
  const id = recordId(us.connection.id, 'driver', sourceId);
  await operator.post(`/operator/drivers/${id}/erasure`, {});
  await continueDeletions(env);
  return id;
}

/** The files that are kept, and that none is without its row, nor a row without its file. */
async function kept() {
  const names = (await files('evidence/')).map((key) => key.split('/').at(-1));
  const found = await rows<{ id: string }>(
    `select id from evidence where state <> 'gone' order by id`,
  );
  expect(names.sort()).toEqual(found.map(({ id }) => id));
  return found.length - (await filesOf(them, theirs)).length;
}

describe('evidence is deleted with its file', () => {
  it('after so many days, also if they are made fewer', async () => {
    const id = await stored(us);
    await pruneEvidence(env, Date.now() + 29 * dayMs);
    expect(await kept()).toBe(1);
    await expire(us.accountId);
    expect(await filesOf(us, id)).toEqual([]); // although it is still there
    await pruneEvidence(env);
    expect(await kept()).toBe(0);
  });

  it('at once when the account keeps none any more, and does not come back with the next consent', async () => {
    const id = await stored(us);
    await keepFor(us, null);
    expect(await filesOf(us, id)).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 2));
    await keepFor(us, 30);
    expect(await filesOf(us, id)).toEqual([]);
    await pruneEvidence(env);
    expect(await kept()).toBe(0);
  });

  it('with its driver, and is not copied for them again', async () => {
    await us.send(driver());
    const crashed = { driver: 'driver-1', sourceId: 'theirs' };
    await stored(us, crashed);
    await stored(us);
    await erase();
    expect(await kept()).toBe(1);
    await crash(us, undefined, crashed);
    expect(await kept()).toBe(1);
  });

  it.each(['', 'archived '])(
    'with the driver of the %strip that it happened on',
    async (archived) => {
      const happened = Date.now() - (archived ? 60 : 1) * dayMs;
      const at = (minutes: number) => new Date(happened + minutes * 60_000).toISOString();
      const own = trip({ driver: 'driver-1', startedAt: at(-1), endedAt: at(1) });
      await us.send(vehicle(), driver(), driver({ sourceId: 'driver-2' }), own);
      await stored(us, { eventTime: at(0) });
      await stored(us, { eventTime: at(0), driver: 'driver-2', sourceId: 'of another' });
      await stored(us, { eventTime: at(60) });
      await archive(env);
      const id = await erase();
      expect(await rows('select 1 from deletions where id = ?1', id)).toEqual([]);
      expect(await kept()).toBe(2);
    },
  );

  /** Has another invocation hold a lease: the job that begins in the background then does nothing. */
  const hold = (name: string) =>
    rows(
      `insert into jobs (name, holder, leased_until) values (?1, 'another', ?2)
       on conflict do update set holder = excluded.holder, leased_until = excluded.leased_until`,
      name,
      Date.now() + dayMs,
    );
  afterEach(() => rows(`delete from jobs where holder = 'another'`));

  it('although an upload cannot be ended, and other accounts fail', {
    tags: ['proof'],
  }, async () => {
    await hold(pruneJob);
    await crashHalf();
    await rows(
      `update evidence set upload = json_set(upload, '$.id', 'gone') where upload is not null`,
    );
    for (const { accountId } of [us, them]) await expire(accountId);
    const [first, second] = inOrder();
    const remove = env.ARCHIVE.delete.bind(env.ARCHIVE);
    const removing = vi.spyOn(env.ARCHIVE, 'delete').mockImplementation(async (keys) => {
      if ([keys].flat().some((key) => key.includes(first))) throw new Error('no');
      return remove(keys);
    });
    const goneOf = () =>
      rows(`select distinct account_id as id from evidence where state = 'gone'`);
    const log = listenToLog();
    await pruneEvidence(env);
    removing.mockRestore();
    expect(log.lines('fault')).toMatchObject([{ message: 'A job failed', accountId: first }]);
    expect(await goneOf()).toEqual([{ id: second }]);
    await pruneEvidence(env);
    expect(await kept()).toBe(0);
  });

  it('while files of another account are being copied', async () => {
    await hold(pruneJob);
    await expire(them.accountId);
    await stored(us);
    await expire(us.accountId);
    const [first] = inOrder();
    await hold(leaseOf(first));
    await pruneEvidence(env, Date.now(), { until: Date.now() + 2_000, queries: 100 });
    expect(await rows(`select account_id as id from evidence where state <> 'gone'`)).toEqual([
      { id: first },
    ]);
  });

  /** The two accounts as the job takes them. */
  const inOrder = () => [us.accountId, them.accountId].sort() as [string, string];

  /** Has a crash come in of whose file a part is copied. */
  const crashHalf = async () => {
    media({ '/half.mp4': () => new Response(new Blob([video(6_000_000)]).stream()) });
    await crash(us, [linked('/half.mp4')]);
    await copyPart(us);
  };

  it('with its connection, even half copied', async () => {
    await stored(us);
    await crashHalf();
    const path = `/operator/connections/${us.connection.id}/deletion`;
    await operator.post(path, { name: 'Motive' });
    await continueDeletions(env);
    const left = await ownRows(us, 'evidence');
    expect([left, await kept()]).toEqual([[], 0]);
  });
});

describe('no record brings back', () => {
  /** Sends a record, before and after something, and finds what is kept, and what is remembered besides. */
  const afterwards = async (record: object, does: () => Promise<unknown>, later = record) => {
    await stored(us, record);
    const [before] = await ownRows(us, 'evidence');
    await does();
    const { id } = await crash(us, [linked('/road.mp4'), linked('/road.mp4?token=new')], later);
    await copyAll(us);
    expect(await filesOf(us, id)).toEqual([]);
    expect(await kept()).toBe(0);
    const nothing = { state: 'gone', source: null, camera: null, taken_at: null, opened: '{}' };
    const remembered = expect.objectContaining({ ...nothing, sha256: before?.sha256 });
    expect(await ownRows(us, 'evidence')).toContainEqual(remembered);
  };

  it('the evidence of a driver who was erased, whom only a trip names', async () => {
    const own = trip({ driver: 'driver-1', startedAt: ago(2 * hourMs), endedAt: ago(0) });
    await us.send(vehicle(), driver(), own);
    await afterwards({ sourceId: 'theirs', eventTime: ago(hourMs) }, erase);
  });

  it('the evidence of a driver who was erased, when a later level leaves them out', async () => {
    await us.send(driver());
    const crashed = { sourceId: 'theirs', notificationLevel: 2 };
    const later = { ...crashed, notificationLevel: 3 };
    await afterwards({ ...crashed, driver: 'driver-1' }, erase, later);
  });

  it('evidence that has expired', async () => {
    await afterwards({ sourceId: 'old' }, async () => {
      await expire(us.accountId);
      await pruneEvidence(env);
    });
  });
});

it('only a deployment with a bucket keeps evidence, for 30 to 3,650 days', async () => {
  const refused = await call('PATCH', `/operator/accounts/${us.accountId}`, {
    headers: { authorization: `Bearer ${env.OPERATOR_KEY}` },
    body: { evidenceDays: 90 },
    bindings: withoutArchive,
  });
  expect(refused).toMatchObject(invalid(expect.stringContaining('add a bucket')));
  for (const days of [29, 3651, 30.5]) expect((await keepFor(us, days)).status).toBe(400);
  expect(await keepFor(us, 3650)).toMatchObject({ status: 200, data: { evidenceDays: 3650 } });
  const fields = '["evidence: 3650 days"]';
  expect((await ownRows(us, 'audit_log')).at(-1)).toMatchObject({ fields });
});

it('operators see of each account for how many days it keeps evidence', async () => {
  const { accountId } = await world();
  const { data } = await operator.get('/operator/accounts');
  for (const [id, evidenceDays] of [
    [us.accountId, 30],
    [accountId, null],
  ])
    expect(data).toContainEqual(expect.objectContaining({ id, evidenceDays }));
});
