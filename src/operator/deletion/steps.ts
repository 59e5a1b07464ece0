import type { SQL } from 'drizzle-orm';
import { deleteAccountRow } from '../../accounts/remove.ts';
import { removeTokens } from '../../accounts/tokens/service.ts';
import { noteArchive, removeArchive, rewriteArchive } from '../../fleet/archive/remove.ts';
import { removeExports } from '../../fleet/exports/run.ts';
import type { ArchivedRow } from '../../fleet/lists/archived.ts';
import { type Action, noteRecords } from '../../fleet/note-changes.ts';
import { type Alongside, deleteConnectionRow, eraseReferences, removeRecords } from '../../fleet/remove.ts';
import { removeMarks } from '../../fleet/trends/job.ts';
import { type RowChange, removeRows } from '../../homes/moves/remove.ts';
import type { Cursor } from '../../homes/moves/state.ts';
import { movedTables } from '../../homes/moves/tables.ts';
import { change, type Database, openDatabase, transaction } from '../../platform/db/database.ts';
import {
  claimedUntilOf,
  eraseAnswers,
  erasePayloads,
  removeDeliveries,
} from '../../webhooks/deliveries/cancel.ts';
import { eraseRecipient, removeNotifications } from '../../webhooks/notifications/remove.ts';
import { removeServiceLevels } from '../../webhooks/service-levels.ts';
import type { Deletion, Kind } from './state.ts';

/** Does one bounded chunk of a step. Returns the cursor for the next one, or undefined when done. */
type Step = (env: Env, deletion: Deletion) => Promise<string | undefined>;

/** A step that changes rows of a table, of all that the account has, for a connection or an address, if there is one. */
const inRows =
  (table: string, of: 'id' | 'email', changing: (keys: SQL, value: string) => SQL): Step =>
  async (env, deletion) => {
    const value = deletion[of];
    if (value === null) return undefined;
    return throughRows(env, deletion, [table], (_, keys) => changing(keys, value));
  };

/**
 * The steps of each kind, in order: referring rows go first. Whatever stores something of a connection or a driver needs
 * a step here; the rows of an account are those that move with it.
 */
const steps: Record<Kind, Record<string, Step>> = {
  account: {
    tokens: removeTokens,
    exports: removeExports,
    rows: throughRows,
    archive: (env, { accountId }) => removeArchive(env, { accountId, connectionId: null }),
    account: finish,
  },
  connection: {
    'rows of deliveries': inRows('deliveries', 'id', removeDeliveries),
    'rows of notifications': inRows('notifications', 'id', removeNotifications),
    tokens: removeTokens,
    records: (env, deletion) => removeRecords(env, deletion.id, noted(deletion, 'deleted')),
    'archived records': (env, { accountId, id, cursor }) =>
      noteArchive(env, { accountId, connectionId: id }, cursor),
    archive: (env, { accountId, id }) => removeArchive(env, { accountId, connectionId: id }),
    exports: removeExports,
    connection: finish,
  },
  driver: {
    references: (env, deletion) => eraseReferences(env, deletion.id, noted(deletion, 'changed')),
    archive: eraseFromArchive,
    exports: removeExports,
    recipients: inRows('notifications', 'email', eraseRecipient),
    'recipients in deliveries': inRows('deliveries', 'email', erasePayloads),
    calls: untilCallsEnd,
    responses: inRows('deliveries', 'email', eraseAnswers),
    driver: finish,
  },
};

/** Records the deletion in the account's change feed. */
const noted =
  ({ accountId, connectionId }: Deletion, action: Action): Alongside =>
  (kind, ids) =>
    connectionId === null
      ? []
      : [noteRecords({ accountId, connectionId, now: Date.now() }, action, kind, ids)];

/** Deletes a chunk of the account's rows in these tables, by default in all, or changes them otherwise. */
async function throughRows(
  env: Env,
  { accountId, cursor }: Deletion,
  names?: string[],
  changing?: RowChange,
): Promise<string | undefined> {
  const db = openDatabase(env);
  const tables = (await movedTables(env)).filter(({ name }) => names?.includes(name) ?? true);
  const place: Cursor = cursor === '' ? {} : JSON.parse(cursor); // as it was written
  const write: Parameters<typeof removeRows>[3] = async (statements) => {
    const [first, ...others] = statements(db);
    if (first) await transaction(db, [first, ...others], { repeatable: true });
  };
  const next = await removeRows(env, { accountId, tables }, place, write, changing);
  return next && JSON.stringify(next);
}

const lookAgainMs = 250;

/**
 * Waits for calls in flight that may carry what was just erased, because their receivers' responses are stored and may
 * repeat it.
 */
async function untilCallsEnd(env: Env, { accountId, email, cursor }: Deletion): Promise<string | undefined> {
  const until = email === null ? null : await claimedUntilOf(env, accountId, Number(cursor) || undefined);
  if (until === null) return undefined;
  await scheduler.wait(lookAgainMs);
  return cursor || String(until);
}

/** Removes a driver from the archived records that name them. */
function eraseFromArchive(
  env: Env,
  { accountId, connectionId, id, cursor }: Deletion,
): Promise<string | undefined> {
  const rewrite = { key: 'driverId', value: id, change: withoutDriver };
  return rewriteArchive(env, { accountId, connectionId }, rewrite, cursor);
}

const withoutDriver = (row: ArchivedRow): ArchivedRow => ({
  ...row,
  driverId: null,
  ...('driverName' in row && { driverName: null }),
});

/** The last step: deletes the root row, and the deletion itself. */
async function finish(env: Env, deletion: Deletion): Promise<undefined> {
  const db = openDatabase(env);
  const last = {
    account: () => [
      removeMarks(db, deletion.id),
      removeServiceLevels(db, deletion.id),
      ...deleteAccountRow(db, deletion.id),
    ],
    connection: () => connectionRows(db, deletion.id),
    driver: () => [],
  };
  const done = change(db)`delete from deletions where id = ${deletion.id}`;
  await transaction(db, [done, ...last[deletion.kind]()], { repeatable: true });
}

/** Includes the marks of its erased drivers. */
const connectionRows = (db: Database, id: string) => [
  change(db)`delete from erased_drivers where connection_id = ${id}`,
  deleteConnectionRow(db, id),
];

export const stepNames = (kind: Kind): string[] => Object.keys(steps[kind]);

export const firstStepOf = (kind: Kind): string => stepNames(kind)[0] ?? '';

export const stepAfter = (kind: Kind, name: string): string | undefined =>
  stepNames(kind)[stepNames(kind).indexOf(name) + 1];

/** The step with this name. One that only another version has does nothing, and the first step comes after it. */
export const stepOf = (kind: Kind, name: string): Step => steps[kind][name] ?? (async () => undefined);
