import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { isLeft, newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { everyMinute, type Jobs, runJob } from '#src/core/platform/jobs/jobs.ts';
import { withLease } from '#src/core/platform/jobs/lease.ts';
import { send } from '#src/core/platform/queue.ts';
import { listenToLog } from '#test/support/log.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';

const ran: string[] = [];
const note = (name: string) => async () => void ran.push(name);
beforeEach(async () => {
  ran.length = 0;
  await rows('delete from jobs');
});

const minuteOf = (minute: number) => new Date(Date.UTC(2026, 10, 22, 12, minute));
const waiting = () =>
  rows('select name from jobs where leased_until <= ?1 order by name', Date.now());

describe('the minute', () => {
  const jobs: Jobs = {
    idle: { isDue: () => sql`0`, run: note('idle') },
    'has work': { isDue: () => sql`1 = 1`, run: note('has work') },
    prune: { run: note('prune') },
  };

  it('sends a message for each job with something to do, and for hourly ones on the hour', async () => {
    const { env: bindings, woken } = metered();
    await everyMinute(bindings, minuteOf(1), {}, jobs, 0);
    expect(woken).toEqual([{ job: 'has work' }]);
    woken.length = 0;
    await everyMinute(bindings, minuteOf(0), {}, jobs, 0);
    expect(woken).toEqual([{ job: 'has work' }, { job: 'prune' }]);
  });

  it('asks again for an hourly job until it has run', async () => {
    const { lines } = listenToLog();
    const { env: bindings, woken } = metered();
    const refusing = {
      ...bindings,
      DELIVERIES: { sendBatch: () => Promise.reject(new Error('overloaded')) },
    };
    await everyMinute(refusing as unknown as Env, minuteOf(0), { sweep: note('sweep') }, jobs, 0);
    expect(ran).toEqual(['sweep']);
    expect(lines('fault')).toMatchObject([
      { level: 'warn', message: 'Queue refused messages', left: 2 },
    ]);
    await everyMinute(bindings, minuteOf(1), {}, jobs, 0);
    expect(woken).toContainEqual({ job: 'prune' });
    await runJob(bindings, jobs, 'prune');
    woken.length = 0;
    await everyMinute(bindings, minuteOf(2), {}, jobs, 0);
    expect(woken).not.toContainEqual({ job: 'prune' });
  });

  it('starts a job again that was killed, once its lease has lapsed', async () => {
    const { env: bindings, woken } = metered();
    await rows(
      `insert into jobs values ('idle', 'gone', ?1), ('prune', 'at it', ?2)`,
      Date.now() - 1,
      1e15,
    );
    await everyMinute(bindings, minuteOf(1), {}, jobs, 0);
    expect(woken).toEqual([{ job: 'idle' }, { job: 'has work' }]);
  });

  it.each([
    ['and when claims from before it are free', 30_000, [5, 30]],
    ['but not for claims that the hang has outlasted', 0, [5]],
  ])('is done again when a database or a queue hung, %s', async (_, claimedMs, waits) => {
    const pause = vi.spyOn(scheduler, 'wait').mockResolvedValue();
    const hangs = async () => {
      ran.push('sweep');
      if (ran.length === 1) await new Promise((on) => setTimeout(on, 5_000));
    };
    await everyMinute(metered().env, minuteOf(1), { hangs }, {}, claimedMs);
    expect(pause.mock.calls.map(([ms]) => Math.round(ms / 1000))).toEqual(waits);
    expect(ran).toHaveLength(waits.length + 1);
  });

  it('goes on with the next when one fails, and says which', async () => {
    const { lines } = listenToLog();
    const { env: bindings, woken } = metered();
    const fails = () => Promise.reject(new Error('no such luck'));
    await everyMinute(bindings, minuteOf(1), { fails, sweep: note('sweep') }, jobs, 0);
    expect([ran, woken]).toEqual([['sweep'], [{ job: 'has work' }]]);
    expect(lines('fault')).toMatchObject([
      { level: 'error', message: 'A job failed', job: 'fails', error: 'Error: no such luck' },
    ]);
  });
});

it('a job is run by one at a time, and leaves nothing behind', async () => {
  const job = { run: () => runJob(env, { job: inner }, 'job') };
  const inner = { run: note('twice') };
  await runJob(env, { job }, 'job');
  expect(ran).toEqual([]);
  expect(await rows('select * from jobs')).toEqual([]);
  await runJob(env, { job: inner }, 'job');
  expect(ran).toEqual(['twice']);
});

it('a job that has used up its budget asks for another invocation', async () => {
  const { env: bindings, woken } = metered();
  const run: Jobs[string]['run'] = async (_, __, budget) => {
    budget.queries = 0;
  };
  await runJob(bindings, { endless: { run } }, 'endless');
  expect(woken).toEqual([{ job: 'endless' }]);
  expect(await waiting()).toEqual([{ name: 'endless' }]);
});

it('a budget counts each statement that D1 is asked', async () => {
  const budget = newBudget({ queries: 4 });
  const db = openDatabase(within(env, budget));
  await transaction(db, [db.all(sql`select 1`), db.all(sql`select ${2}`)]);
  await transaction(db, db.all(sql`select ${3}`));
  expect([budget.queries, isLeft(budget)]).toEqual([1, true]);
  await transaction(db, db.all(sql`select 4`));
  expect(isLeft(budget)).toBe(false);
});

it('a lease ends with the work, whether that fails or not', async () => {
  await expect(withLease(env, 'x', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLease(env, 'x', () => withLease(env, 'x', note('x')))).toEqual({
    result: 'busy',
  });
  expect(await withLease(env, 'x', async () => 'done')).toEqual({ result: 'done' });
});

it('a lease that has lapsed can be taken', async () => {
  const both = await withLease(env, 'x', async () => {
    await rows('update jobs set leased_until = 0');
    return withLease(env, 'x', async () => 'taken');
  });
  expect(both).toEqual({ result: { result: 'taken' } });
});

function failing(times: number) {
  const sizes: number[] = [];
  const sendBatch = async (batch: unknown[]) => {
    sizes.push(batch.length);
    if (sizes.length <= times) throw new Error('Queue send failed: Internal Server Error');
  };
  return { queue: { sendBatch } as unknown as Queue, sizes }; // all that is used of one
}

const messages = Array.from({ length: 150 }, (_, n) => ({ job: `${n}` }));

it('messages that the queue fails once are sent again', async () => {
  const { queue, sizes } = failing(1);
  expect(await send(queue, messages)).toBe(150);
  expect(sizes).toEqual([100, 100, 50]);
});

it('messages that the queue fails twice are left to the cron, with a line in the log', async () => {
  const { lines } = listenToLog();
  const { queue, sizes } = failing(2);
  expect(await send(queue, messages)).toBe(0);
  expect(sizes).toEqual([100, 100]);
  expect(lines('fault')).toMatchObject([{ message: 'Queue refused messages', left: 150 }]);
});
