import { type SQL, sql } from 'drizzle-orm';
import { type Database, read, write } from '../platform/db/database.ts';

/** The statements that stop all webhooks of an account, so that nothing of them is claimed, and list them. */
export const stopWebhooks = (db: Database, accountId: string, now: number) => ({
  stopped: write(db)`
    update webhooks set stopped_at = coalesce(stopped_at, ${now}) where account_id = ${accountId}`,
  webhooks: read<{ id: string }>(db)`select id from webhooks where account_id = ${accountId}`,
});

/** The statement that starts them again, if `condition` holds. */
export const resumeWebhooks = (db: Database, accountId: string, condition: SQL = sql`true`) =>
  write(db)`update webhooks set stopped_at = null where account_id = ${accountId} and ${condition}`;

/** The statements that end all subscriptions to a connection, and list the webhooks that had one. */
export const unsubscribeAll = (db: Database, connectionId: string) => ({
  webhooks: read<{ id: string }>(db)`
    select webhook_id as id from webhook_connections where connection_id = ${connectionId}`,
  unsubscribed: write(db)`delete from webhook_connections where connection_id = ${connectionId}`,
});
