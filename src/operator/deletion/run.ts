import { sql } from 'drizzle-orm';
import { change, type Database, openDatabase } from '../../platform/db/database.ts';
import { described, fault } from '../../platform/log.ts';
import { cancelPending } from '../../webhooks/deliveries/cancel.ts';
import { type Deletion, deletionsWhere, webhooksInWaiting } from './state.ts';
import { firstStepOf, stepAfter, stepOf } from './steps.ts';

/** What one run may do. A chunk takes at most six queries, of the 1,000 that D1 takes of an invocation. */
type Budget = { chunks: number; until: number };

const maxChunks = 60;
const maxMs = 8_000;
const maxAtOnce = 20;

/** The longest that a run rests after a chunk. */
const longestRestMs = 200;

/** Goes on with what is due to be deleted, once a minute. Never throws: what fails is logged, and tried again. */
export async function continueDeletions(env: Env, now = Date.now()): Promise<void> {
  const budget = { chunks: maxChunks, until: Date.now() + maxMs };
  try {
    const due = await deletionsWhere(
      openDatabase(env),
      sql`due_at <= ${now} order by due_at limit ${maxAtOnce}`,
    );
    for (const { id } of due) if (isLeft(budget)) await run(env, id, budget, now);
    await cancelInWaiting(env);
  } catch (error) {
    fault('error', { message: 'A deletion was interrupted', ...described(error) });
  }
}

/** What was being sent when an account was suspended may have failed since, and waits for another attempt. */
async function cancelInWaiting(env: Env): Promise<void> {
  const stopped = await webhooksInWaiting(openDatabase(env));
  const ids = stopped.map(({ id }) => id);
  if (ids.length > 0) await cancelPending(env, ids);
}

/**
 * Goes on with one deletion for some seconds, if it is due. Returns how it stands, or undefined once it is done. It may
 * be interrupted anywhere, and run by several at a time.
 */
export const continueDeletion = (env: Env, id: string): Promise<Deletion | undefined> =>
  run(env, id, { chunks: maxChunks, until: Date.now() + maxMs }, Date.now());

const isLeft = ({ chunks, until }: Budget): boolean => chunks > 0 && Date.now() < until;

async function run(env: Env, id: string, budget: Budget, now: number): Promise<Deletion | undefined> {
  const db = openDatabase(env);
  await begin(db, id, now);
  for (;;) {
    const [deletion] = await deletionsWhere(db, sql`id = ${id}`);
    if (!deletion?.step || !isLeft(budget)) return deletion;
    await runStep(env, db, { ...deletion, step: deletion.step }, budget);
  }
}

/** From here on activating an account no longer cancels its deletion. */
const begin = (db: Database, id: string, now: number) =>
  change(
    db,
    sql`
    update deletions set step = ${firstStepOf('account')}
    where id = ${id} and kind = 'account' and step is null and due_at <= ${now}`,
  );

/** Does chunks of one step, until it is done or the budget is used up; then notes how far it has come. */
async function runStep(
  env: Env,
  db: Database,
  deletion: Deletion & { step: string },
  budget: Budget,
): Promise<void> {
  const { id, kind, step } = deletion;
  const chunk = stepOf(kind, step);
  let cursor: string | undefined = deletion.cursor;
  while (cursor !== undefined && isLeft(budget)) {
    budget.chunks--;
    const began = Date.now();
    cursor = await chunk(env, { ...deletion, cursor });
    // Half of D1's time is left to others.
    await scheduler.wait(Math.min(Date.now() - began, longestRestMs));
  }
  const next = cursor === undefined ? stepAfter(kind, step) : step;
  await change(
    db,
    sql`
    update deletions set step = ${next ?? step}, cursor = ${cursor ?? ''}
    where id = ${id} and step = ${step} and cursor = ${deletion.cursor}`,
  );
}
