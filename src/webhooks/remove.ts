import { type SQL, sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement } from '../platform/db/database.ts';
import { type Remover, rowsPerChunk, untilNone } from '../platform/jobs/chunks.ts';

/** Few, because a webhook has up to 720 counters. */
const webhooksPerChunk = 5;

/** The statements that stop all webhooks of an account, so that nothing of them is claimed. The last one lists them. */
export const stopWebhooks = (db: Database, accountId: string, now: number) =>
  [
    change(db)`update webhooks set stopped_at = coalesce(stopped_at, ${now}) where account_id = ${accountId}`,
    statement<{ id: string }>(db)`select id from webhooks where account_id = ${accountId}`,
  ] as const;

/** The statement that starts them again, if `condition` holds. */
export const resumeWebhooks = (db: Database, accountId: string, condition: SQL = sql`true`) =>
  change(db)`update webhooks set stopped_at = null where account_id = ${accountId} and ${condition}`;

/** The statements that end all subscriptions to a connection. The first one lists the webhooks that had one. */
export const unsubscribeAll = (db: Database, connectionId: string) =>
  [
    statement<{ id: string }>(db)`
      select webhook_id as id from webhook_connections where connection_id = ${connectionId}`,
    change(db)`delete from webhook_connections where connection_id = ${connectionId}`,
  ] as const;

/** Deletes the account's webhooks with their health, counts and alerts, once none subscribes to anything. */
export const removeWebhooks: Remover = async (env, { accountId }) => {
  const db = openDatabase(env);
  const subscribed = await untilNone(db, [
    sql`delete from webhook_connections where (connection_id, webhook_id) in (
      select c.connection_id, c.webhook_id from webhooks w
      cross join webhook_connections c on c.webhook_id = w.id
      where w.account_id = ${accountId} limit ${rowsPerChunk})`,
  ]);
  if (subscribed !== undefined) return subscribed;
  return untilNone(db, [
    sql`delete from webhooks where id in (
      select id from webhooks where account_id = ${accountId} limit ${webhooksPerChunk})`,
    sql`delete from service_levels where account_id = ${accountId}`,
  ]);
};
