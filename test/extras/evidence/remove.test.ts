import { env } from 'cloudflare:workers';
import { dayMs } from '#src/core/platform/durations.ts';
import { archive } from '#src/extras/archive/job.ts';
import { copyEvidence, leaseOf } from '#src/extras/evidence/copy.ts';
import { pruneJob } from '#src/extras/evidence/evidence.ts';
import { pruneEvidence } from '#src/extras/evidence/remove.ts';
import { continueDeletions } from '#src/operator/deletion/run.ts';
import { withoutArchive } from '#test/extras/archive/support.ts';
import {
  copyAll,
  crash,
  filesOf,
  keepFor,
  linked,
  media,
  video,
} from '#test/extras/evidence/support.ts';
import { listenToLog } from '#test/support/log.ts';
import { driver, trip, vehicle } from '#test/support/records.ts';
import { rows, value } from '#test/support/rows.ts';
import { call, operator, type World, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
let them: World;
let theirs: string;
beforeEach(async () => {
  await rows('delete from evidence');
  await rows('delete from deletions');
  const { objects } = await env.ARCHIVE.list();
  await env.ARCHIVE.delete(objects.map(({ key }) => key));
  media({ '/road.mp4': video(100) });
  them = await world();
  for (const one of [us, them]) await keepFor(one, 30);
  theirs = await stored(them);
});

/** Stores the evidence of an accident, and returns the accident's id. */
async function stored(of: World, more: object = {}): Promise<string> {
  const { id } = await crash(of, [linked('/road.mp4')], {
    sourceId: `crash ${Math.random()}`,
    ...more,
  });
  await copyAll(of);
  expect(await filesOf(of, id)).toMatchObject([{ state: 'stored' }]);
  return id;
}

/** The files that are kept, and that none is without its row, nor a row without its file. */
async function kept(): Promise<number> {
  const { objects } = await env.ARCHIVE.list({ prefix: 'evidence/' });
  const found = await rows<{ id: string }>(
    `select id from evidence where state <> 'gone' order by id`,
  );
  expect(objects.map(({ key }) => key.split('/').at(-1)).toSorted()).toEqual(
    found.map(({ id }) => id),
  );
  return found.length - (await filesOf(them, theirs)).length;
}

describe('evidence is deleted with its file', () => {
  it('after so many days, also if they are made fewer', async () => {
    const id = await stored(us);
    const later = Date.now() + 29 * dayMs;
    await pruneEvidence(env, later);
    expect(await kept()).toBe(1);
    await rows(
      'update evidence set created_at = created_at - ?1 where account_id = ?2',
      31 * dayMs,
      us.accountId,
    );
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
    const [{ id = '' } = {}] = await rows<{ id: string }>(
      'select id from drivers where account_id = ?1',
      us.accountId,
    );
    await operator.post(`/operator/drivers/${id}/erasure`, {});
    await continueDeletions(env);
    expect(await kept()).toBe(1);
    await crash(us, [linked('/road.mp4')], crashed);
    expect(await kept()).toBe(1);
  });

  it.each(['', 'archived '])(
    'with the driver of the %strip that it happened on',
    async (archived) => {
      const eventTime = new Date(Date.now() - (archived ? 60 : 1) * dayMs);
      const [began, ended, later] = [-1, 1, 60].map((minutes) =>
        new Date(eventTime.getTime() + minutes * 60_000).toISOString(),
      );
      const own = { sourceId: 'their trip', driver: 'driver-1', startedAt: began, endedAt: ended };
      await us.send(vehicle(), driver(), driver({ sourceId: 'driver-2' }), trip(own));
      await stored(us, { eventTime: eventTime.toISOString() });
      await stored(us, {
        eventTime: eventTime.toISOString(),
        driver: 'driver-2',
        sourceId: 'of another',
      });
      await stored(us, { eventTime: later });
      await archive(env);
      const id = await value(
        `select id from drivers where account_id = ?1 and source_id = 'driver-1'`,
        us.accountId,
      );
      await operator.post(`/operator/drivers/${id}/erasure`, {});
      await continueDeletions(env);
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

  it('although an upload cannot be ended, and other accounts fail', async () => {
    await hold(pruneJob);
    media({ '/half.mp4': () => new Response(new Blob([video(6_000_000)]).stream()) });
    await crash(us, [linked('/half.mp4')]);
    await copyEvidence(env, us.accountId, { until: Date.now() + 60_000, queries: 4 });
    await rows(
      `update evidence set upload = json_set(upload, '$.id', 'gone') where upload is not null`,
    );
    await rows('update evidence set created_at = created_at - ?1', 31 * dayMs);
    const fails = (account: string) => ({
      ...env,
      ARCHIVE: new Proxy(env.ARCHIVE, {
        get: (bucket, name) =>
          name === 'delete'
            ? (keys: string[]) =>
                keys.some((key) => key.includes(account))
                  ? Promise.reject(new Error('no'))
                  : bucket.delete(keys)
            : Reflect.get(bucket, name).bind(bucket),
      }),
    });
    const states = async () =>
      Object.fromEntries(
        (await rows('select account_id, state from evidence')).map((row) => [
          row.account_id,
          row.state,
        ]),
      );
    const first = us.accountId < them.accountId ? us : them;
    const second = first === us ? them : us;
    const log = listenToLog();
    await pruneEvidence(fails(first.accountId));
    expect(log.lines('fault')).toMatchObject([
      { message: 'A job failed', accountId: first.accountId },
    ]);
    expect((await states())[second.accountId]).toBe('gone');
    expect((await states())[first.accountId]).not.toBe('gone');
    await pruneEvidence(env);
    expect(await kept()).toBe(0);
  });

  it('while files of another account are being copied', async () => {
    await hold(pruneJob);
    await rows('update evidence set created_at = created_at - ?1', 31 * dayMs);
    await stored(us);
    await rows(
      'update evidence set created_at = created_at - ?1 where account_id = ?2',
      31 * dayMs,
      us.accountId,
    );
    const first = us.accountId < them.accountId ? us : them;
    await hold(leaseOf(first.accountId));
    await pruneEvidence(env, Date.now(), { until: Date.now() + 2_000, queries: 100 });
    expect(await rows(`select account_id from evidence where state <> 'gone'`)).toEqual([
      { account_id: first.accountId },
    ]);
  });

  it.each(['connection', 'account'])('with its %s, even half copied', async (what) => {
    await stored(us);
    media({ '/half.mp4': () => new Response(new Blob([video(6_000_000)]).stream()) });
    await crash(us, [linked('/half.mp4')]);
    await copyEvidence(env, us.accountId, { until: Date.now() + 60_000, queries: 4 });
    const path =
      what === 'account' ? `accounts/${us.accountId}` : `connections/${us.connection.id}`;
    const name = what === 'account' ? { name: 'Acme Insurance', now: true } : { name: 'Motive' };
    const reply = await operator.post(`/operator/${path}/deletion`, name);
    expect(reply.status).toBe(200);
    await continueDeletions(env);
    const left = await rows('select 1 from evidence where account_id = ?1', us.accountId);
    expect([left, await kept()]).toEqual([[], 0]);
  });
});

describe('no record brings back', () => {
  /** Sends a record, before and after something, and finds what is kept, and what is remembered besides. */
  const afterwards = async (record: object, does: () => Promise<unknown>, later = record) => {
    await stored(us, record);
    const before = await rows<Row>('select * from evidence where account_id = ?1', us.accountId);
    await does();
    const { id } = await crash(us, [linked('/road.mp4'), linked('/road.mp4?token=new')], later);
    await copyAll(us);
    expect(await filesOf(us, id)).toEqual([]);
    const { objects } = await env.ARCHIVE.list({ prefix: `evidence/account=${us.accountId}` });
    expect(objects).toEqual([]);
    const [row] = await rows<Row>('select * from evidence where id = ?1', before[0]?.id);
    const { state, source, camera, taken_at, opened, sha256 } = row ?? {};
    expect({ state, source, camera, taken_at, opened, sha256 }).toEqual({
      ...{
        state: 'gone',
        source: null,
        camera: null,
        taken_at: null,
        opened: '{}',
        sha256: before[0]?.sha256,
      },
    });
  };
  type Row = Record<string, unknown>;

  const erase = async () => {
    const id = await value('select id from drivers where account_id = ?1', us.accountId);
    await operator.post(`/operator/drivers/${id}/erasure`, {});
    await continueDeletions(env);
  };

  it('the evidence of a driver who was erased, whom only a trip names', async () => {
    const [began, ended] = [-2, 0].map((hours) =>
      new Date(Date.now() + hours * 3_600_000).toISOString(),
    );
    const eventTime = new Date(Date.now() - 3_600_000).toISOString();
    const own = trip({
      sourceId: 'their trip',
      driver: 'driver-1',
      startedAt: began,
      endedAt: ended,
    });
    await us.send(vehicle(), driver(), own);
    await afterwards({ sourceId: 'theirs', eventTime }, erase);
  });

  it('the evidence of a driver who was erased, when a later level leaves them out', async () => {
    await us.send(driver());
    const crashed = { sourceId: 'theirs', notificationLevel: 2 };
    await afterwards({ ...crashed, driver: 'driver-1' }, erase, {
      ...crashed,
      notificationLevel: 3,
    });
  });

  it('evidence that has expired', async () => {
    await afterwards({ sourceId: 'old' }, async () => {
      await rows('update evidence set created_at = created_at - ?1', 31 * dayMs);
      await pruneEvidence(env);
    });
  });
});

it('only a deployment with a bucket keeps evidence, for 30 to 3,650 days', async () => {
  const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  const keep = (evidenceDays: number, bindings?: Env) =>
    call('PATCH', `/operator/accounts/${us.accountId}`, {
      headers,
      body: { evidenceDays },
      ...(bindings && { bindings }),
    });
  expect(await keep(90, withoutArchive)).toMatchObject({
    status: 400,
    message: expect.stringContaining('add a bucket'),
  });
  for (const days of [29, 3651, 30.5]) expect((await keep(days)).status).toBe(400);
  expect(await keep(3650)).toMatchObject({ status: 200, data: { evidenceDays: 3650 } });
  const audited = `select fields from audit_log where account_id = ?1 order by seq desc limit 1`;
  expect(await rows(audited, us.accountId)).toEqual([{ fields: '["evidence: 3650 days"]' }]);
});
