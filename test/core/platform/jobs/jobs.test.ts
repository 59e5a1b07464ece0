import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { isLeft, newBudget, within } from '#src/core/platform/jobs/budget.ts';
import { everyMinute, type Jobs, runJob } from '#src/core/platform/jobs/jobs.ts';
import { withLease } from '#src/core/platform/jobs/lease.ts';
import { send } from '#src/core/platform/queue.ts';
import { listenToLog, metered, rows, times } from '#test/support.ts';

const ran: string[] = [];
const note = (name: string) => async () => void ran.push(name);
beforeEach(async () => {
  ran.length = 0;
  await rows('delete from jobs');
});

describe('the minute', () => {
  const jobs: Jobs = {
    idle: { isDue: () => sql`0`, run: note('idle') },
    'has work': { isDue: () => sql`1 = 1`, run: note('has work') },
    prune: { run: note('prune') },
  };
  const at = (minute: number) => new Date(Date.UTC(2026, 10, 22, 12, minute));
  /** The jobs that a minute of the hour wakes, which begins with some work. */
  const wokenAt = async (minute: number, work: Parameters<typeof everyMinute>[2] = {}) => {
    const { env, woken } = metered();
    await everyMinute(env, at(minute), work, jobs, 0);
    return woken.map((message) => (message as { job: string }).job); // as jobs.ts sends them
  };

  it('sends a message for each job with something to do, and for hourly ones on the hour', async () => {
    expect(await wokenAt(1)).toEqual(['has work']);
    expect(await wokenAt(0)).toEqual(['has work', 'prune']);
  });

  it('asks again for an hourly job until it has run', async () => {
    const { lines } = listenToLog();
    const DELIVERIES = { sendBatch: () => Promise.reject(new Error('overloaded')) };
    const refusing = { ...env, DELIVERIES } as unknown as Env; // all that is used of it
    await everyMinute(refusing, at(0), { sweep: note('sweep') }, jobs, 0);
    expect(ran).toEqual(['sweep']);
    const refused = { level: 'warn', message: 'Queue refused messages', left: 2 };
    expect(lines('fault')).toMatchObject([refused]);
    expect(await wokenAt(1)).toContain('prune');
    await runJob(env, jobs, 'prune');
    expect(await wokenAt(2)).not.toContain('prune');
  });

  it('starts a job again that was killed, once its lease has lapsed', async () => {
    const leases = `insert into jobs values ('idle', 'gone', ?1), ('prune', 'at it', ?2)`;
    await rows(leases, Date.now() - 1, 1e15);
    expect(await wokenAt(1)).toEqual(['idle', 'has work']);
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
    await everyMinute(metered().env, at(1), { hangs }, {}, claimedMs);
    expect(pause.mock.calls.map(([ms]) => Math.round(ms / 1000))).toEqual(waits);
    expect(ran).toHaveLength(waits.length + 1);
  });

  it('goes on with the next when one fails, and says which', async () => {
    const { lines } = listenToLog();
    const fails = () => Promise.reject(new Error('no such luck'));
    expect(await wokenAt(1, { fails, sweep: note('sweep') })).toEqual(['has work']);
    expect(ran).toEqual(['sweep']);
    const failed = { job: 'fails', error: 'Error: no such luck' };
    expect(lines('fault')).toMatchObject([{ level: 'error', message: 'A job failed', ...failed }]);
  });
});

it('a job is run by one at a time, and leaves nothing behind', async () => {
  const inner = { job: { run: note('twice') } };
  await runJob(env, { job: { run: () => runJob(env, inner, 'job') } }, 'job');
  expect([ran, await rows('select * from jobs')]).toEqual([[], []]);
  await runJob(env, inner, 'job');
  expect(ran).toEqual(['twice']);
});

it('a job that has used up its budget asks for another invocation', async () => {
  const { env, woken } = metered();
  const run: Jobs[string]['run'] = async (_, __, budget) => {
    budget.queries = 0;
  };
  await runJob(env, { endless: { run } }, 'endless');
  expect(woken).toEqual([{ job: 'endless' }]);
  const lapsed = 'select name from jobs where leased_until <= ?1';
  expect(await rows(lapsed, Date.now())).toEqual([{ name: 'endless' }]);
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

const messages = times(150, (n) => ({ job: `${n}` }));

it.each([
  ['once are sent again', 1, 150, [100, 100, 50], []],
  ['twice are left to the cron, with a line in the log', 2, 0, [100, 100], [{ left: 150 }]],
])('messages that the queue fails %s', async (_, failures, sent, expected, faults) => {
  const { lines } = listenToLog();
  const { queue, sizes } = failing(failures);
  expect(await send(queue, messages)).toBe(sent);
  expect(sizes).toEqual(expected);
  expect(lines('fault')).toMatchObject(faults);
});
