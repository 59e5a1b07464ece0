import { removeAuditLog } from '../../accounts/audit/prune.ts';
import { deleteAccountRow, removePeople } from '../../accounts/remove.ts';
import { removeTokens } from '../../accounts/tokens/remove.ts';
import { removeArchive, rewriteArchive } from '../../fleet/archive/remove.ts';
import { type Action, noteRecords } from '../../fleet/changes/note.ts';
import { changesOfAccount } from '../../fleet/changes/prune.ts';
import type { ArchivedRow } from '../../fleet/lists/archived.ts';
import { archiveKinds } from '../../fleet/lists/registry.ts';
import {
  type Alongside,
  deleteConnectionRow,
  eraseReferences,
  firstConnection,
  removeRecords,
} from '../../fleet/remove.ts';
import { removeCounts } from '../../fleet/trends/job.ts';
import { change, type Database, openDatabase, transaction } from '../../platform/db/database.ts';
import { type Remover, untilNone } from '../../platform/jobs/chunks.ts';
import { removeLinks } from '../../providers/links.ts';
import { removeAlerting } from '../../webhooks/alerts/mails.ts';
import {
  claimedUntilOf,
  eraseAnswers,
  erasePayloads,
  removeDeliveries,
  removeFanOuts,
} from '../../webhooks/deliveries/cancel.ts';
import { eraseRecipient, removeNotifications } from '../../webhooks/notifications/remove.ts';
import { removeWebhooks } from '../../webhooks/remove.ts';
import type { Deletion, Kind } from './state.ts';

/** Does one bounded chunk of a step. Returns the cursor for the next one, or undefined when done. */
type Step = (env: Env, deletion: Deletion) => Promise<string | undefined>;

const whole =
  (remove: Remover): Step =>
  (env, deletion) =>
    remove(env, deletion, deletion.cursor);

/** A step that looks for a driver's address, if there is one. */
const byEmail =
  (erase: (email: string) => Remover): Step =>
  async (env, deletion) =>
    deletion.email === null ? undefined : erase(deletion.email)(env, deletion, deletion.cursor);

/**
 * The steps of each kind, in order: referring rows go first. Whatever stores something of an account, a connection or a
 * driver needs a step here.
 */
const steps: Record<Kind, Record<string, Step>> = {
  account: {
    tokens: whole(removeTokens),
    people: whole(removePeople),
    alerting: whole(removeAlerting),
    'connect links': whole(removeLinks),
    webhooks: whole(removeWebhooks),
    deliveries: whole(removeDeliveries),
    notifications: whole(removeNotifications),
    connections: removeConnections,
    changes: (env, { accountId }) => untilNone(openDatabase(env), [changesOfAccount(accountId)]),
    counts: whole(removeCounts),
    'audit log': whole(removeAuditLog),
    account: finish,
  },
  connection: {
    deliveries: whole(removeDeliveries),
    notifications: whole(removeNotifications),
    tokens: whole(removeTokens),
    records: (env, deletion) => removeRecords(env, deletion.id, noted(deletion, 'deleted')),
    archive: (env, { accountId, id }) => removeArchive(env, archiveKinds, { accountId, connectionId: id }),
    connection: finish,
  },
  driver: {
    references: (env, deletion) =>
      eraseReferences(deletion.id, noted(deletion, 'changed'))(env, deletion, ''),
    archive: eraseFromArchive,
    notifications: byEmail(eraseRecipient),
    payloads: byEmail(erasePayloads),
    calls: untilCallsEnd,
    deliveries: byEmail(eraseAnswers),
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

async function removeConnections(env: Env, { accountId }: Deletion): Promise<string | undefined> {
  const id = await firstConnection(env, accountId);
  if (!id) return undefined;
  const owner = { accountId, connectionId: id };
  if ((await removeRecords(env, id)) !== undefined) return '';
  if ((await removeArchive(env, archiveKinds, owner)) === undefined) await finishConnection(env, id);
  return '';
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
  return rewriteArchive(env, archiveKinds, { accountId, connectionId }, rewrite, cursor);
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
    account: () => [removeFanOuts(db, deletion), ...deleteAccountRow(db, deletion.id)],
    connection: () => connectionRows(db, deletion.id),
    driver: () => [],
  };
  const done = change(db)`delete from deletions where id = ${deletion.id}`;
  await transaction(db, [done, ...last[deletion.kind]()], { repeatable: true });
}

async function finishConnection(env: Env, id: string): Promise<void> {
  const db = openDatabase(env);
  const [first, ...others] = connectionRows(db, id);
  if (first) await transaction(db, [first, ...others], { repeatable: true });
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

/** The step with this name. @throws Error if there is none, as after a rollback to older code */
export function stepOf(kind: Kind, name: string): Step {
  const { [name]: found } = steps[kind];
  if (!found) throw new Error(`Deleting a ${kind} has no step ${name}`);
  return found;
}
