import { and, eq, getTableColumns, isNotNull, isNull, lte, ne, type SQL, sql } from 'drizzle-orm';
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
import { accounts } from '../../core/platform/db/schema/accounts.ts';
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
import { eraseFromArchive, removeArchive } from '../../extras/archive/remove.ts';
import { ofConnection, ofDriver, onTrips, removeEvidence } from '../../extras/evidence/remove.ts';
import { removeExports } from '../../extras/exports/run.ts';
import { removeMarks } from '../../extras/trends/job.ts';
import { maxListed } from '../api/operation.ts';
import { throughRows } from './rows.ts';

/** An accepted deletion that is not done, with the name of its account, if that is there. */
export type Deletion = Awaited<ReturnType<typeof selectDeletions>>[number];

export type Kind = Deletion['kind'];

export const maxDeletionsListed = 1000;

/** Accepted deletions that are not done, those due first before others. */
export function listDeletions(env: Env): Promise<Deletion[]> {
  const db = openDatabase(env);
  return transaction(
    db,
    selectDeletions(db, ne(deletions.kind, 'copy'))
      .orderBy(deletions.dueAt)
      .limit(maxDeletionsListed),
  );
}

/** The statement that reads the deletions for which a condition holds. */
export const selectDeletions = (db: Database, which: SQL | undefined) =>
  db
    .select({ ...getTableColumns(deletions), account: accounts.name })
    .from(deletions)
    .leftJoin(accounts, eq(accounts.id, deletions.accountId))
    .where(which);

/** The statement that lists deletions that have failed, among the first 1,000. */
export function failedDeletions(db: Database) {
  const first = db
    .select()
    .from(deletions)
    .orderBy(deletions.dueAt)
    .limit(maxDeletionsListed)
    .as('first');
  return db
    .select({
      id: first.id,
      accountId: first.accountId,
      account: accounts.name,
      problem: sql<string>`${first.problem}`.as('its_problem'),
    })
    .from(first)
    .leftJoin(accounts, eq(accounts.id, first.accountId))
    .where(isNotNull(first.problem))
    .limit(maxListed);
}

/** Does one bounded chunk of a step. Returns the next one's cursor; undefined when done. */
type Step = (env: Env, deletion: Deletion) => Promise<string | undefined>;

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

const ofAccount: Record<string, Step> = {
  tokens: removeTokens,
  exports: removeExports,
  evidence: (env, deletion) => removeEvidence(env, deletion),
  rows: (env, deletion) => throughRows(env, deletion),
  archive: (env, { accountId }) => removeArchive(env, { accountId, connectionId: null }),
};

/** The steps of each kind; referring rows go first. What stores something of a connection needs one. */
const steps: Record<Kind, Record<string, Step>> = {
  account: { ...ofAccount, account: finish },
  copy: { ...ofAccount, account: finish },
  connection: {
    'rows of deliveries': inRows('deliveries', 'id', removeDeliveries),
    'rows of notifications': inRows('notifications', 'id', removeNotifications),
    tokens: removeTokens,
    evidence: (env, deletion) => removeEvidence(env, deletion, ofConnection(deletion.id)),
    records: (env, deletion) =>
      removeRecords(openDatabase(env), deletion.id, noted(deletion, 'deleted')),
    archive: (env, { accountId, id }) => removeArchive(env, { accountId, connectionId: id }),
    exports: removeExports,
    connection: finish,
  },
  driver: {
    evidence: (env, deletion) =>
      removeEvidence(env, deletion, ofDriver(deletion.id), { isRemembered: true }),
    references: (env, deletion) =>
      eraseReferences(openDatabase(env), deletion.id, noted(deletion, 'changed')),
    archive: (env, { accountId, connectionId, id, cursor }) =>
      eraseFromArchive(env, { accountId, connectionId }, id, cursor, async ({ kind }, rows) =>
        kind === 'trips'
          ? removeEvidence(env, { accountId }, onTrips(rows), { isRemembered: true })
          : undefined,
      ),
    exports: removeExports,
    recipients: inRows('safety_events', 'email', eraseRecipient),
    'recipients in notifications': inRows('notifications', 'email', eraseFromNotifications),
    calls: untilCallsEnd,
    responses: inRows('deliveries', 'email', eraseAnswers),
    driver: finish,
  },
};

const noted =
  ({ accountId, connectionId }: Deletion, action: Action): Alongside =>
  (db, kind, ids) =>
    connectionId === null
      ? []
      : [recordChange(db, { accountId, connectionId, now: Date.now() }, action, kind, ids)];

const lookAgainMs = 250;

/** Waits for calls in flight that may carry what was erased: their responses are stored. */
async function untilCallsEnd(
  env: Env,
  { accountId, email, cursor }: Deletion,
): Promise<string | undefined> {
  const until =
    email === null ? null : await claimedUntilOf(env, accountId, Number(cursor) || undefined);
  if (until === null) return undefined;
  await scheduler.wait(lookAgainMs);
  return cursor || String(until);
}

async function finish(env: Env, deletion: Deletion): Promise<undefined> {
  const db = openDatabase(env);
  const last = {
    account: () => [removeMarks(db, deletion.id), ...deleteAccountRow(db, deletion.id)],
    copy: () => [removeMarks(db, deletion.id)],
    connection: () => [
      db.delete(erasedDrivers).where(eq(erasedDrivers.connectionId, deletion.id)),
      deleteConnectionRow(db, deletion.id),
    ],
    driver: () => [],
  };
  const done = db.delete(deletions).where(eq(deletions.id, deletion.id));
  await transaction(db, [done, ...last[deletion.kind]()], { repeatable: true });
}

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
    cursor = await steps[kind][step]?.(env, { ...deletion, cursor: cursor ?? '' });
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
