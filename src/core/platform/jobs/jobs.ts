import { lte, type SQL, sql } from 'drizzle-orm';
import { type Database, transaction } from '../db/database.ts';
import { jobs as marked } from '../db/schema/jobs.ts';
import { openDatabase } from '../db/system.ts';
import { fault } from '../log.ts';
import { send } from '../queue.ts';
import { type Budget, isLeft, newBudget, within } from './budget.ts';
import { withLease } from './lease.ts';

/** Work of one invocation at a time: hourly, or when its condition holds, which is asked each minute. */
type Job = {
  run: (env: Env, now: number, budget: Budget) => Promise<unknown>;
  isDue?: (now: number) => SQL;
};
export type Jobs = Record<string, Job>;

/** What the cron does itself each minute, by name. */
export type Starters = Record<string, (env: Env) => Promise<unknown>>;

export type JobMessage = { job: string };

/** What takes longer than this is repeated after the same time, so many times at most. */
const hungMs = 5_000;
const maxRepeats = 2;

/**
 * Runs each minute: the starters, which send messages for what is due, and a message for each due
 * job. A failure stops nothing else. What waited for a store that hung is repeated, and again after
 * `claimedMs`, when what interrupted calls had claimed is free.
 */
export async function everyMinute(
  env: Env,
  time: Date,
  starters: Starters,
  jobs: Jobs,
  claimedMs: number,
): Promise<void> {
  /** Returns whether something hung. */
  const run = async (): Promise<boolean> => {
    const began = Date.now();
    for (const [name, start] of Object.entries(starters)) await attempt(name, () => start(env));
    await attempt('start jobs', () => startDue(env, jobs, time));
    return Date.now() - began >= hungMs;
  };
  const free = Date.now() + claimedMs + hungMs; // clocks differ
  let repeats = 0;
  while ((await run()) && repeats < maxRepeats) {
    repeats++;
    await scheduler.wait(hungMs);
  }
  const remaining = free - Date.now();
  if (repeats === 0 || remaining <= 0) return;
  await scheduler.wait(remaining);
  await run();
}

/** Runs a job, unless another invocation does, and asks for another run if there is more. Never throws. */
export const runJob = (env: Env, jobs: Jobs, name: string): Promise<void> =>
  attempt(name, async () => {
    const job = jobs[name];
    if (!job) return; // from another version of the service
    const budget = newBudget();
    const done = await withLease(env, name, () => job.run(within(env, budget), Date.now(), budget));
    if (done === 'busy' || isLeft(budget)) return;
    await keepWaiting(env, [name]);
    await send(env.DELIVERIES, [{ job: name }]);
  });

async function attempt(job: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    fault('error', 'A job failed', { job }, error);
  }
}

async function startDue(env: Env, jobs: Jobs, time: Date): Promise<void> {
  const hourly = Object.keys(jobs).filter((name) => !jobs[name]?.isDue);
  if (time.getUTCMinutes() === 0 && hourly.length > 0) await keepWaiting(env, hourly);
  const due = await dueJobs(env, jobs);
  await send(
    env.DELIVERIES,
    due.map((job) => ({ job })),
  );
}

const keepWaiting = (env: Env, names: string[]) => {
  const db = openDatabase(env);
  return transaction(db, markWaiting(db, names), { repeatable: true });
};

/** The statement that marks jobs as waiting, so that the next minute starts those whose message was lost. */
export const markWaiting = (db: Database, names: string[]) =>
  db
    .insert(marked)
    .values(names.map((name) => ({ name })))
    .onConflictDoNothing();

/** The jobs to run: those whose condition holds, marked ones, and killed ones. */
async function dueJobs(env: Env, jobs: Jobs): Promise<string[]> {
  const now = Date.now();
  const db = openDatabase(env);
  const conditions = Object.fromEntries(
    Object.entries(jobs).flatMap(([name, { isDue }]) =>
      isDue ? [[name, sql<number>`${isDue(now)}`.as(name)]] : [],
    ),
  );
  const { waiting, found } = await transaction(db, {
    waiting: db.select({ name: marked.name }).from(marked).where(lte(marked.leasedUntil, now)),
    found: db.select({ now: sql<number>`1`, isDue: conditions }).from(sql`(select 1)`),
  });
  const noted = waiting.map(({ name }) => name);
  return Object.keys(jobs).filter((name) => found[0]?.isDue[name] === 1 || noted.includes(name));
}
