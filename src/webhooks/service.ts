import { and, eq, sql } from 'drizzle-orm';
import type { SealingKey } from '../config.ts';
import {
  among,
  asCaller,
  breaksUnique,
  type Caller,
  type Database,
  only,
  statement,
} from '../db/database.ts';
import { newId } from '../db/ids.ts';
import { webhookConnections, webhooks } from '../db/tables.ts';
import { untilNoneStart } from '../deliveries/claims.ts';
import { invalid } from '../errors.ts';
import { ACCIDENT, EVENT, type WebhookInput } from './schema.ts';
import { seal, unseal } from './seal.ts';

/** A webhook as its account sees it (spec 2.2); `createdAt` in milliseconds since 1970. */
export type Webhook = WebhookInput & { id: string; createdAt: number };

const most = 1000;

/** All webhooks of the caller's account, oldest first (spec 4.1). */
export async function listWebhooks(db: Database, keys: SealingKey[], caller: Caller): Promise<Webhook[]> {
  const [rows] = await asCaller(db, caller, [
    db
      .select({
        id: webhooks.id,
        connectionIds: sql<string>`(select json_group_array(connection_id) from webhook_connections
          where webhook_id = ${webhooks.id})`.as('connection_ids'),
        url: webhooks.url,
        httpVerb: webhooks.httpVerb,
        headers: webhooks.headers,
        notificationTypes: webhooks.notificationTypes,
        createdAt: webhooks.createdAt,
      })
      .from(webhooks)
      .where(eq(webhooks.accountId, caller.accountId))
      .orderBy(webhooks.createdAt, webhooks.id),
  ]);
  return Promise.all(
    rows.map(async (row) => ({
      ...row,
      connectionIds: JSON.parse(row.connectionIds),
      headers: await unseal(keys, row.id, row.headers),
      notificationTypes: fromBits(row.notificationTypes),
    })),
  );
}

/**
 * Creates a webhook, active at once (spec 4.2).
 *
 * @throws Refusal: invalid, for foreign connection ids, a url in use, or more than 1,000 webhooks
 */
export async function createWebhook(
  db: Database,
  keys: SealingKey[],
  caller: Caller,
  input: WebhookInput,
): Promise<Webhook> {
  const webhook: Webhook = { id: newId(), ...input, createdAt: Date.now() };
  const room = sql`(select count(*) from webhooks where account_id = ${caller.accountId}) < ${most}`;
  const saved = await columns(keys, webhook.id, input);
  await savingUrl(() =>
    asCaller(db, caller, [
      ownsConnections(db, caller, input.connectionIds),
      only(db, room, 'too many webhooks'),
      db.insert(webhooks).values({
        id: webhook.id,
        accountId: caller.accountId,
        createdAt: webhook.createdAt,
        ...saved,
      }),
      subscribe(db, webhook),
    ]),
  );
  return webhook;
}

/**
 * Replaces a webhook's configuration, which also holds for deliveries that still wait (spec 4.3).
 *
 * @throws Refusal: invalid, for an unknown id, and as for `createWebhook`
 */
export async function updateWebhook(
  db: Database,
  keys: SealingKey[],
  caller: Caller,
  id: string,
  input: WebhookInput,
): Promise<Webhook> {
  const own = and(eq(webhooks.id, id), eq(webhooks.accountId, caller.accountId));
  const saved = await columns(keys, id, input);
  const [, , [updated]] = await savingUrl(() =>
    asCaller(db, caller, [
      only(db, sql`exists (select 1 from webhooks where ${own})`, 'unknown webhook'),
      ownsConnections(db, caller, input.connectionIds),
      db.update(webhooks).set(saved).where(own).returning({ createdAt: webhooks.createdAt }),
      db.delete(webhookConnections).where(eq(webhookConnections.webhookId, id)),
      subscribe(db, { id, ...input }),
    ]),
  );
  if (!updated) throw invalid('Invalid webhook id');
  return { id, ...input, createdAt: updated.createdAt };
}

/**
 * Deletes a webhook: what waits for it ends as cancelled, nothing more is sent (spec 4.4). A consumer that had
 * claimed some of it before may still begin a call, for a few seconds: this returns when that is over.
 *
 * @throws Refusal: invalid, for an unknown id
 */
export async function deleteWebhook(db: Database, caller: Caller, id: string): Promise<void> {
  const own = and(eq(webhooks.id, id), eq(webhooks.accountId, caller.accountId));
  const [deleted] = await asCaller(db, caller, [
    db.delete(webhooks).where(own).returning({ id: webhooks.id }),
  ]);
  if (deleted.length === 0) throw invalid('Invalid webhook id');
  await untilNoneStart(db, id);
}

const ownsConnections = (db: Database, caller: Caller, ids: string[]) =>
  only(
    db,
    sql`(select count(*) from connections
         where id in ${among(ids)} and account_id = ${caller.accountId}) = ${ids.length}`,
    'unknown connections',
  );

const subscribe = (
  db: Database,
  webhook: { id: string; connectionIds: string[]; notificationTypes: WebhookInput['notificationTypes'] },
) =>
  statement(
    db,
    sql`
    insert into webhook_connections (connection_id, webhook_id, notification_types)
    select value, ${webhook.id}, ${toBits(webhook.notificationTypes)} from json_each(${JSON.stringify(webhook.connectionIds)})`,
  );

const columns = async (keys: SealingKey[], id: string, input: WebhookInput) => ({
  url: input.url,
  normalisedUrl: new URL(input.url).href,
  httpVerb: input.httpVerb,
  headers: await seal(keys, id, input.headers),
  notificationTypes: toBits(input.notificationTypes),
});

async function savingUrl<T>(save: () => Promise<T>): Promise<T> {
  try {
    return await save();
  } catch (error) {
    if (breaksUnique(error, 'webhooks.account_id, webhooks.normalised_url'))
      throw invalid('Webhook with this URL already exist');
    throw error;
  }
}

const toBits = (types: WebhookInput['notificationTypes']): number =>
  types.reduce((bits, type) => bits | type, 0);

const fromBits = (bits: number): WebhookInput['notificationTypes'] =>
  [ACCIDENT, EVENT].filter((type): type is 1 | 2 => (bits & type) !== 0);
