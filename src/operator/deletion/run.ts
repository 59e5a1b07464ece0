import { and, eq, isNull, lte, type SQL, sql } from 'drizzle-orm';
import { deleteAccountRow } from '../../core/accounts/accounts.ts';
import { removeTokens } from '../../core/accounts/tokens/service.ts';
import { type Action, recordChange } from '../../core/fleet/record-changes.ts';
import {
  type Alongside,
  deleteConnectionRow,
  eraseRecipient,
  eraseReferences,
  removeRecords,
} from '../../core/fleet/remove.ts';
import { type Database, type Statement, transaction } from '../../core/platform/db/database.ts';
import { erasedDrivers } from '../../core/platform/db/schema/fleet.ts';
import { deletions } from '../../core/platform/db/schema/jobs.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { minuteMs } from '../../core/platform/durations.ts';
import {
  type Budget,
  inSteps,
  isLeft,
  newBudget,
  within,
} from '../../core/platform/jobs/budget.ts';
import { described, fault } from '../../core/platform/log.ts';
import { eraseAnswers, removeDeliveries } from '../../core/webhooks/deliveries/cancel.ts';
import { claimedUntilOf } from '../../core/webhooks/deliveries/send/in-flight.ts';
import {
  eraseRecipient as eraseFromNotifications,
  removeNotifications,
} from '../../core/webhooks/notifications/remove.ts';
import type { Erasing, Deletion as Row, Step } from '../../extras/extra.ts';
import { declared, extras } from '../../extras.ts';
import { type Deletion, type Kind, selectDeletions } from './list.ts';
import { throughRows } from './rows.ts';

/** A step that changes an account's rows of a table, or those for a connection or address. */
const inRows =
  (
    table: string,
    of: 'id' | 'email',
    changing: (db: Database, keys: SQL, value: string) => Statement<D1Result>,
  ): Step =>
  async (env, deletion) => {
    const value = deletion[of];
    if (value === null) return undefined;
    return throughRows(env, deletion, [table], (db, _, keys) => changing(db, keys, value));
  };

/** The steps of extras, before or after the core's, by their names. */
const ofExtras = (kind: 'account' | 'connection' | 'driver', when: 'before' | 'after') =>
  Object.fromEntries(
    Object.entries(extras).flatMap(([name, { deletion }]) => {
      const step = deletion?.[kind]?.[when];
      return step ? [[name, step]] : [];
    }),
  );

const ofAccount: Record<string, Step> = {
  tokens: removeTokens,
  ...ofExtras('account', 'before'),
  rows: (env, deletion) => throughRows(env, deletion),
  ...ofExtras('account', 'after'),
};

/** The steps of each kind; referring rows go first. What stores something of a connection needs one. */
const steps: Record<Kind, Record<string, Step>> = {
  account: { ...ofAccount, account: finish },
  copy: { ...ofAccount, account: finish },
  connection: {
    'rows of deliveries': inRows('deliveries', 'id', removeDeliveries),
    'rows of notifications': inRows('notifications', 'id', removeNotifications),
    tokens: removeTokens,
    ...ofExtras('connection', 'before'),
    records: (env, deletion) =>
      removeRecords(openDatabase(env), deletion.id, noted(deletion, 'deleted')),
    ...ofExtras('connection', 'after'),
    connection: finish,
  },
  driver: {
    ...ofExtras('driver', 'before'),
    references: (env, deletion) =>
      eraseReferences(openDatabase(env), deletion.id, noted(deletion, 'changed')),
    ...ofExtras('driver', 'after'),
    recipients: inRows('safety_events', 'email', eraseRecipient),
    'recipients in notifications': inRows('notifications', 'email', eraseFromNotifications),
    calls: untilCallsEnd,
    responses: inRows('deliveries', 'email', eraseAnswers),
    driver: finish,
  },
};

/** What extras delete before the archive forgets a driver. Returns undefined when nothing is left. */
const archived: Erasing = async (...erased) => {
  for (const { archived } of declared('deletion')) {
    const next = await archived?.(...erased);
    if (next !== undefined) return next;
  }
  return undefined;
};

const noted =
  ({ accountId, connectionId }: Row, action: Action): Alongside =>
  (db, kind, ids) =>
    connectionId === null
      ? []
      : [recordChange(db, { accountId, connectionId, now: Date.now() }, action, kind, ids)];

const lookAgainMs = 250;

/** Waits for calls in flight that may carry what was erased: their responses are stored. */
async function untilCallsEnd(
  env: Env,
  { accountId, email, cursor }: Row,
): Promise<string | undefined> {
  const until =
    email === null ? null : await claimedUntilOf(env, accountId, Number(cursor) || undefined);
  if (until === null) return undefined;
  await scheduler.wait(lookAgainMs);
  return cursor || String(until);
}

async function finish(env: Env, deletion: Row): Promise<undefined> {
  const db = openDatabase(env);
  const last = {
    account: () => [...lastOfExtras(db, deletion.id), ...deleteAccountRow(db, deletion.id)],
    copy: () => lastOfExtras(db, deletion.id),
    connection: () => [
      db.delete(erasedDrivers).where(eq(erasedDrivers.connectionId, deletion.id)),
      deleteConnectionRow(db, deletion.id),
    ],
    driver: () => [],
  };
  const done = db.delete(deletions).where(eq(deletions.id, deletion.id));
  await transaction(db, [done, ...last[deletion.kind]()], { repeatable: true });
}

const lastOfExtras = (db: Database, accountId: string) =>
  declared('deletion').map(({ account }) => account?.last?.(db, accountId));

/** Schedules the deletion of what is left of an account that lives in another cell by now. */
export const removeCopy = (db: Database, accountId: string, now = Date.now()) =>
  db.insert(deletions).values({
    id: accountId,
    kind: 'copy',
    accountId,
    requestedAt: now,
    dueAt: now + minuteMs,
    step: stepNames('copy')[0],
  });

/** The names of a kind's steps, in order. */
export const stepNames = (kind: Kind): string[] => Object.keys(steps[kind]);

const maxAtOnce = 20;

/** Works on the deletions that are due. */
export async function continueDeletions(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  const db = openDatabase(env);
  const due = await transaction(
    db,
    selectDeletions(db, lte(deletions.dueAt, now)).orderBy(deletions.dueAt).limit(maxAtOnce),
  );
  for (const { id } of due) if (isLeft(budget)) await run(env, id, budget, now);
}

/** SQL for whether `continueDeletions` has work. */
export const deletionsAreDue = (now: number): SQL =>
  sql`exists (select 1 from deletions where due_at <= ${now})`;

/** Works on a due deletion for some seconds; may be interrupted or run twice. Returns its state. */
export function continueDeletion(env: Env, id: string): Promise<Deletion | undefined> {
  const budget = newBudget();
  return run(within(env, budget), id, budget, Date.now());
}

async function run(
  env: Env,
  id: string,
  budget: Budget,
  now: number,
): Promise<Deletion | undefined> {
  const db = openDatabase(env);
  // From here on activating the account no longer cancels its deletion.
  const isDue = and(
    eq(deletions.id, id),
    eq(deletions.kind, 'account'),
    isNull(deletions.step),
    lte(deletions.dueAt, now),
  );
  await transaction(
    db,
    db
      .update(deletions)
      .set({ step: stepNames('account')[0] })
      .where(isDue),
  );
  for (;;) {
    const [deletion] = await transaction(db, selectDeletions(db, eq(deletions.id, id)));
    if (!deletion?.step || !isLeft(budget)) return deletion;
    try {
      await runStep(env, db, { ...deletion, step: deletion.step }, budget);
    } catch (error) {
      return recordFailure(db, deletion, error);
    }
  }
}

const retryMs = 10 * minuteMs;

/** Has a deletion wait that fails, so that others go on, and says why. */
async function recordFailure(db: Database, deletion: Deletion, error: unknown): Promise<Deletion> {
  const { id, accountId } = deletion;
  const failure = described(error);
  fault('error', 'A deletion failed', { deletionId: id, accountId }, error);
  const problem = [failure.file && `${failure.file} cannot be read`, failure.error]
    .filter(Boolean)
    .join(': ');
  await transaction(
    db,
    db
      .update(deletions)
      .set({ problem, dueAt: Date.now() + retryMs })
      .where(eq(deletions.id, id)),
  );
  return { ...deletion, problem };
}

/** Does chunks of one step until it is done or the budget is used up, and records the progress. */
async function runStep(
  env: Env,
  db: Database,
  deletion: Deletion & { step: string },
  budget: Budget,
): Promise<void> {
  const { id, kind, step } = deletion;
  let cursor: string | undefined = deletion.cursor;
  await inSteps(budget, async () => {
    cursor = await steps[kind][step]?.(env, { ...deletion, cursor: cursor ?? '' }, archived);
    return cursor !== undefined;
  });
  const names = stepNames(kind);
  const next = cursor === undefined ? names[names.indexOf(step) + 1] : step;
  const isAsRead = and(
    eq(deletions.id, id),
    eq(deletions.step, step),
    eq(deletions.cursor, deletion.cursor),
  );
  await transaction(
    db,
    db
      .update(deletions)
      .set({ step: next ?? step, cursor: cursor ?? '', problem: null })
      .where(isAsRead),
  );
}
