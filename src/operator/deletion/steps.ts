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

/** Does one bounded chunk of a step, and returns the cursor to go on with, or undefined once nothing is left. */
type Step = (env: Env, deletion: Deletion) => Promise<string | undefined>;

const whole =
  (remove: Remover): Step =>
  (env, deletion) =>
    remove(env, deletion, deletion.cursor);

/** What is looked for by a driver's address, if they have one. */
const byEmail =
  (erase: (email: string) => Remover): Step =>
  async (env, deletion) =>
    deletion.email === null ? undefined : erase(deletion.email)(env, deletion, deletion.cursor);

/**
 * The steps of each kind, in order: what points to something goes before it. Whatever else comes to keep something of an
 * account, a connection or a driver gets a step here.
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

/** Notes the deletion of records for the account's followers. */
const noted =
  ({ accountId, connectionId }: Deletion, action: Action): Alongside =>
  (kind, ids) =>
    connectionId === null
      ? []
      : [noteRecords({ accountId, connectionId, now: Date.now() }, action, kind, ids)];

/** The account's connections, one after the other. */
async function removeConnections(env: Env, { accountId }: Deletion): Promise<string | undefined> {
  const id = await firstConnection(env, accountId);
  if (!id) return undefined;
  const owner = { accountId, connectionId: id };
  if ((await removeRecords(env, id)) !== undefined) return '';
  if ((await removeArchive(env, archiveKinds, owner)) === undefined) await finishConnection(env, id);
  return '';
}

const lookAgainMs = 250;

/** Waits for calls that may carry what has just been erased: their receivers' responses are stored, and may repeat it. */
async function untilCallsEnd(env: Env, { accountId, email, cursor }: Deletion): Promise<string | undefined> {
  const until = email === null ? null : await claimedUntilOf(env, accountId, Number(cursor) || undefined);
  if (until === null) return undefined;
  await scheduler.wait(lookAgainMs);
  return cursor || String(until);
}

/** Takes a driver from the archived records that name them. */
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

/** The last step: deletes the row that everything else hung on, and with it the deletion. */
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

/** Deletes a connection's row, once all that names it is gone. */
async function finishConnection(env: Env, id: string): Promise<void> {
  const db = openDatabase(env);
  const [first, ...others] = connectionRows(db, id);
  if (first) await transaction(db, [first, ...others], { repeatable: true });
}

/** With the marks of its drivers that were erased: they keep nobody out any more. */
const connectionRows = (db: Database, id: string) => [
  change(db)`delete from erased_drivers where connection_id = ${id}`,
  deleteConnectionRow(db, id),
];

/** The names of the steps of a kind, in order. */
export const stepNames = (kind: Kind): string[] => Object.keys(steps[kind]);

/** The step that a deletion begins with. */
export const firstStepOf = (kind: Kind): string => stepNames(kind)[0] ?? '';

/** The step after one; undefined after the last. */
export const stepAfter = (kind: Kind, name: string): string | undefined =>
  stepNames(kind)[stepNames(kind).indexOf(name) + 1];

/** The step of this name. @throws Error when there is none, as after going back to older code */
export function stepOf(kind: Kind, name: string): Step {
  const { [name]: found } = steps[kind];
  if (!found) throw new Error(`Deleting a ${kind} has no step ${name}`);
  return found;
}
