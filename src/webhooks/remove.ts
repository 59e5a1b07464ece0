import { type SQL, sql } from 'drizzle-orm';
import { type Database, read, write } from '../platform/db/database.ts';

/** The statements that stop all webhooks of an account, so that nothing of them is claimed. The last one lists them. */
export const stopWebhooks = (db: Database, accountId: string, now: number) =>
  [
    write(db)`update webhooks set stopped_at = coalesce(stopped_at, ${now}) where account_id = ${accountId}`,
    read<{ id: string }>(db)`select id from webhooks where account_id = ${accountId}`,
  ] as const;

/** The statement that starts them again, if `condition` holds. */
export const resumeWebhooks = (db: Database, accountId: string, condition: SQL = sql`true`) =>
  write(db)`update webhooks set stopped_at = null where account_id = ${accountId} and ${condition}`;

/** The statements that end all subscriptions to a connection. The first one lists the webhooks that had one. */
export const unsubscribeAll = (db: Database, connectionId: string) =>
  [
    read<{ id: string }>(db)`
      select webhook_id as id from webhook_connections where connection_id = ${connectionId}`,
    write(db)`delete from webhook_connections where connection_id = ${connectionId}`,
  ] as const;
