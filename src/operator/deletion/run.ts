import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase } from '../../platform/db/database.ts';
import { type Budget, inSteps, isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { cancelPending } from '../../webhooks/deliveries/cancel.ts';
import { type Deletion, deletionsWhere, hasPendingInWaiting, webhooksInWaiting } from './state.ts';
import { firstStepOf, stepAfter, stepOf } from './steps.ts';

const maxAtOnce = 20;

/** Works on the deletions that are due. */
export async function continueDeletions(env: Env, now = Date.now(), budget = newBudget()): Promise<void> {
  await cancelInWaiting(env, budget);
  const due = await deletionsWhere(
    openDatabase(env),
    sql`due_at <= ${now} order by due_at limit ${maxAtOnce}`,
  );
  for (const { id } of due) if (isLeft(budget)) await run(env, id, budget, now);
}

/** SQL for whether `continueDeletions` has work. */
export const deletionsAreDue = (_: Env, now: number): SQL =>
  sql`(exists (select 1 from deletions where due_at <= ${now}) or ${hasPendingInWaiting})`;

/** Deliveries that were in flight when their account was suspended may have failed since, and wait for a retry. */
async function cancelInWaiting(env: Env, budget: Budget): Promise<void> {
  const stopped = await webhooksInWaiting(openDatabase(env));
  const ids = stopped.map(({ id }) => id);
  if (ids.length > 0) await cancelPending(env, ids, budget);
}

/**
 * Works on one deletion for some seconds, if it is due. Returns how it stands, or undefined when done. It may be
 * interrupted anywhere, and run concurrently.
 */
export function continueDeletion(env: Env, id: string): Promise<Deletion | undefined> {
  const budget = newBudget();
  return run(within(env, budget), id, budget, Date.now());
}

async function run(env: Env, id: string, budget: Budget, now: number): Promise<Deletion | undefined> {
  const db = openDatabase(env);
  await begin(db, id, now);
  for (;;) {
    const [deletion] = await deletionsWhere(db, sql`id = ${id}`);
    if (!deletion?.step || !isLeft(budget)) return deletion;
    await runStep(env, db, { ...deletion, step: deletion.step }, budget);
  }
}

/** From here on activating the account no longer cancels its deletion. */
const begin = (db: Database, id: string, now: number) =>
  change(db)`
    update deletions set step = ${firstStepOf('account')}
    where id = ${id} and kind = 'account' and step is null and due_at <= ${now}`;

/** Does chunks of one step until it is done or the budget is used up, and records the progress. */
async function runStep(
  env: Env,
  db: Database,
  deletion: Deletion & { step: string },
  budget: Budget,
): Promise<void> {
  const { id, kind, step } = deletion;
  const chunk = stepOf(kind, step);
  let cursor: string | undefined = deletion.cursor;
  await inSteps(budget, async () => {
    cursor = await chunk(env, { ...deletion, cursor: cursor ?? '' });
    return cursor !== undefined;
  });
  const next = cursor === undefined ? stepAfter(kind, step) : step;
  await change(db)`
    update deletions set step = ${next ?? step}, cursor = ${cursor ?? ''}
    where id = ${id} and step = ${step} and cursor = ${deletion.cursor}`;
}
