import { type SQL, sql } from 'drizzle-orm';
import type * as v from 'valibot';
import { deleteAccountRow } from '../../accounts/accounts.ts';
import { removeTokens } from '../../accounts/tokens/service.ts';
import { eraseFromArchive, removeArchive } from '../../fleet/archive/remove.ts';
import { ofConnection, ofDriver, onTrips, removeEvidence } from '../../fleet/evidence/remove.ts';
import { removeExports } from '../../fleet/exports/run.ts';
import { type Action, changeRows } from '../../fleet/record-changes.ts';
import {
  type Alongside,
  deleteConnectionRow,
  eraseRecipient,
  eraseReferences,
  removeRecords,
} from '../../fleet/remove.ts';
import { removeMarks } from '../../fleet/trends/job.ts';
import { type Database, read, transaction, write } from '../../platform/db/database.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { minuteMs } from '../../platform/durations.ts';
import { type Budget, inSteps, isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { described, fault } from '../../platform/log.ts';
import { eraseAnswers, removeDeliveries } from '../../webhooks/deliveries/cancel.ts';
import { claimedUntilOf } from '../../webhooks/deliveries/send/in-flight.ts';
import {
  eraseRecipient as eraseFromNotifications,
  removeNotifications,
} from '../../webhooks/notifications/remove.ts';
import type { Deletion as Shown } from '../api/deletion.ts';
import { maxListed } from '../api/operation.ts';
import { throughRows } from './rows.ts';

export type Kind = 'account' | 'connection' | 'driver' | 'copy';

/** An accepted deletion that is not done. Times are milliseconds since 1970. */
export type Deletion = Omit<v.InferInput<typeof Shown>, 'kind' | 'stepsDone' | 'steps'> & {
  kind: Kind;
  connectionId: string | null;
  /** How far a step has come that scans a table. */
  cursor: string;
  /** A driver's address to look for, in lower case. */
  email: string | null;
};

export const maxDeletionsListed = 1000;

/** Accepted deletions that are not done, those due first before others. */
export const listDeletions = (env: Env): Promise<Deletion[]> =>
  deletionsWhere(
    openDatabase(env),
    sql`kind <> 'copy' order by due_at limit ${maxDeletionsListed}`,
  );

export const deletionsWhere = (db: Database, which: SQL) =>
  read<Deletion>(db)`
    select id, kind, account_id as accountId, connection_id as connectionId, requested_at as requestedAt,
      due_at as dueAt, step, cursor, email, problem, ${nameOfAccount}
    from deletions where ${which}`;

const nameOfAccount = sql`(select name from accounts where id = account_id) as account`;

/** The statement that lists deletions that have failed, among the first 1,000. */
export const failedDeletions = (db: Database) =>
  read<Pick<Deletion, 'id' | 'accountId' | 'account'> & { problem: string }>(db)`
    select id, account_id as accountId, ${nameOfAccount}, problem
    from (select * from deletions order by due_at limit ${maxDeletionsListed})
    where problem is not null limit ${maxListed}`;

/** Does one bounded chunk of a step. Returns the next one's cursor; undefined when done. */
type Step = (env: Env, deletion: Deletion) => Promise<string | undefined>;

/** A step that changes an account's rows of a table, or those for a connection or address. */
const inRows =
  (table: string, of: 'id' | 'email', changing: (keys: SQL, value: string) => SQL): Step =>
  async (env, deletion) => {
    const value = deletion[of];
    if (value === null) return undefined;
    return throughRows(env, deletion, [table], (_, keys) => changing(keys, value));
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
  (kind, ids) =>
    connectionId === null
      ? []
      : [changeRows({ accountId, connectionId, now: Date.now() }, action, kind, ids)];

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
      write(db)`delete from erased_drivers where connection_id = ${deletion.id}`,
      deleteConnectionRow(db, deletion.id),
    ],
    driver: () => [],
  };
  const done = write(db)`delete from deletions where id = ${deletion.id}`;
  await transaction(db, [done, ...last[deletion.kind]()], { repeatable: true });
}

/** Schedules the deletion of what is left of an account that lives in another cell by now. */
export const removeCopy = (db: Database, accountId: string, now = Date.now()) =>
  write(db)`
    insert into deletions (id, kind, account_id, requested_at, due_at, step)
    values (${accountId}, 'copy', ${accountId}, ${now}, ${now + minuteMs}, ${stepNames('copy')[0]})`;

/** The names of a kind's steps, in order. */
export const stepNames = (kind: Kind): string[] => Object.keys(steps[kind]);

const maxAtOnce = 20;

/** Works on the deletions that are due. */
export async function continueDeletions(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  const due = await deletionsWhere(
    openDatabase(env),
    sql`due_at <= ${now} order by due_at limit ${maxAtOnce}`,
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
  await write(db)`
    update deletions set step = ${stepNames('account')[0]}
    where id = ${id} and kind = 'account' and step is null and due_at <= ${now}`;
  for (;;) {
    const [deletion] = await deletionsWhere(db, sql`id = ${id}`);
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
  await write(db)`
    update deletions set problem = ${problem}, due_at = ${Date.now() + retryMs} where id = ${id}`;
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
  await write(db)`
    update deletions set step = ${next ?? step}, cursor = ${cursor ?? ''}, problem = null
    where id = ${id} and step = ${step} and cursor = ${deletion.cursor}`;
}
