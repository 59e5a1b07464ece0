import { and, eq, exists, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { validate as isUuid } from 'uuid';
import { unseal } from '../platform/crypto.ts';
import { type Database, refuseUnless } from '../platform/db/database.ts';
import { asCaller, type Caller, isWithin } from '../platform/db/guard.ts';
import { webhookConnections, webhooks } from '../platform/db/schema/webhooks.ts';
import { invalid } from '../platform/errors.ts';
import { pick, plainFields } from './fields.ts';
import { type NotificationType, notificationTypes } from './notifications/types.ts';
import { type ShownOptions, shownOptions, type WebhookOptions } from './options.ts';
import type { WebhookInput } from './schema.ts';

/** A webhook as its account sees it; `createdAt` in milliseconds since 1970. */
export type Webhook = Omit<WebhookInput, 'allConnections' | keyof WebhookOptions> &
  ShownOptions & {
    id: string;
    createdAt: number;
    headers: Record<string, string>;
    allConnections?: true;
    /** In milliseconds since 1970. */
    pausedAt?: number;
  };

/** The account's own name and description of a webhook, which neither the API nor receivers see. */
export type Labels = { name: string | null; description: string | null };

/** A webhook as stored. `revision` changes each time it is saved. */
export type StoredWebhook = Webhook & Labels & { revision: string };

/** All webhooks of the caller's account, oldest first. */
export async function listWebhooks(env: Env, caller: Caller): Promise<StoredWebhook[]> {
  const rows = await asCaller(env, caller, (db) => selectWebhooks(db, isOwned(caller)));
  return Promise.all(rows.map((row) => opened(env, row)));
}

export async function findWebhook(
  env: Env,
  caller: Caller,
  id: string,
): Promise<StoredWebhook | undefined> {
  const row = await findRow(env, caller, id);
  return row && opened(env, row);
}

/** The account's webhook. @throws Refusal: invalid, for an unknown id */
export async function requireWebhook(env: Env, caller: Caller, id: string): Promise<StoredWebhook> {
  const webhook = await findWebhook(env, caller, id);
  if (!webhook) throw invalid(unknownWebhook);
  return webhook;
}

export const unknownWebhook = 'Invalid webhook id';

/** The statement that refuses an id that is not that of a webhook of the caller. */
export const mustBeOurs = (db: Database, caller: Caller, id: string) =>
  refuseUnless(
    db,
    exists(db.select({ id: webhooks.id }).from(webhooks).where(ownWebhook(caller, id))),
    unknownWebhook,
  );

/** A webhook's id in a path. @throws Refusal: invalid */
export function webhookIdIn(text = ''): string {
  if (!isUuid(text)) throw invalid(unknownWebhook);
  return text.toLowerCase();
}

/** The account's webhook with what is encrypted and never shown; undefined for an unknown id. */
export async function findRow(
  env: Env,
  caller: Caller,
  id: string,
): Promise<SelectedWebhook | undefined> {
  const [row] = await asCaller(env, caller, (db) => selectWebhooks(db, ownWebhook(caller, id)));
  return row;
}

/** SQL for whether a webhook has this id and is the caller's. */
export const ownWebhook = (caller: Caller, id: string) => and(eq(webhooks.id, id), isOwned(caller));

/** SQL for whether a webhook is the account's, and for a token limited to some connections covers these alone. */
export function isOwned(caller: Caller, webhook: WebhookColumns = webhooks): SQL | undefined {
  const within = isWithin(caller, sql`c.connection_id`);
  const covered = sql`(
    select min(${within}) from webhook_connections c where c.webhook_id = ${webhook.id})`;
  return and(
    eq(webhook.accountId, caller.accountId),
    within && sql`not ${webhook.allConnections} and coalesce(${covered}, 0)`,
  );
}

/** Those of the table or of an alias. */
type WebhookColumns = Record<'id' | 'accountId' | 'allConnections', SQLiteColumn>;

/** The names of the given fields that differ from a webhook's; if it cannot be decrypted, all that are given. */
export async function changedFields(
  env: Env,
  row: SelectedWebhook,
  { allConnections = false, connectionIds, ...given }: WebhookInput & Partial<Labels>,
): Promise<string[]> {
  const before: { [name: string]: unknown } = await opened(env, row).catch(() => ({}));
  const after = { ...given, allConnections, ...(!allConnections && { connectionIds }) };
  return Object.entries(after).flatMap(([name, value]) =>
    value === undefined || canonical(value) === canonical(before[name]) ? [] : name,
  );
}

/** Equal for equal values; what is empty, false or missing is the same. */
const canonical = (value: unknown): string =>
  JSON.stringify(value || {}, (_, one) =>
    one instanceof Object && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort())
      : one,
  );

/** Changes each time a webhook is saved: its headers get a new nonce. */
export const revisionColumn = sql<string>`${webhooks.headers}->>'iv'`;

/** Selects webhooks for `opened`, oldest first. */
export function selectWebhooks(db: Database, which: SQL | undefined) {
  const ids = db
    .select({ id: webhookConnections.connectionId })
    .from(webhookConnections)
    .where(eq(webhookConnections.webhookId, webhooks.id))
    .orderBy(webhookConnections.place);
  const parsed = (list: string): string[] => JSON.parse(list);
  return db
    .select({
      ...getTableColumns(webhooks),
      connectionIds: sql`(select json_group_array(connection_id) from ${ids})`
        .mapWith(parsed)
        .as('connection_ids'),
      revision: revisionColumn.as('revision'),
    })
    .from(webhooks)
    .where(which)
    .orderBy(webhooks.createdAt, webhooks.id);
}

export type SelectedWebhook = Awaited<ReturnType<typeof selectWebhooks>>[number];

/** A webhook that was read, with its headers decrypted. */
export const opened = async (env: Env, row: SelectedWebhook): Promise<StoredWebhook> => ({
  ...pick(row, ['id', ...plainFields, 'createdAt', 'name', 'description', 'revision']),
  ...(row.allConnections && { allConnections: true }),
  ...(await shownOptions({ env, webhookId: row.id }, row.options)),
  ...(row.pausedAt !== null && { pausedAt: row.pausedAt }),
  connectionIds: row.connectionIds,
  headers: await unseal(env, row.id, row.headers),
  notificationTypes: fromBits(row.notificationTypes),
});

const fromBits = (bits: number): NotificationType[] =>
  notificationTypes.filter((type) => (bits & type) !== 0);
