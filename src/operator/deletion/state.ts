import type { SQL } from 'drizzle-orm';
import { sql } from 'drizzle-orm';
import { type Database, openDatabase, statement } from '../../platform/db/database.ts';

/** What is deleted: an account, a connection, or what is known of a driver. */
export type Kind = 'account' | 'connection' | 'driver';

/** A deletion that has been accepted and is not done. Times are milliseconds since 1970. */
export type Deletion = {
  id: string;
  kind: Kind;
  accountId: string;
  /** Null for an account. */
  connectionId: string | null;
  requestedAt: number;
  dueAt: number;
  /** Null until it has begun. */
  step: string | null;
  /** How far a step has come that looks through a table. */
  cursor: string;
  /** A driver's, in lower case: to be looked for. */
  email: string | null;
};

/** How many deletions `listDeletions` returns at most. */
export const maxDeletionsListed = 1000;

/** Deletions that have been accepted and are not done, those that are due first before others; at most 1,000. */
export const listDeletions = (env: Env): Promise<Deletion[]> =>
  deletionsWhere(openDatabase(env), sql`true order by due_at limit ${maxDeletionsListed}`);

/** The webhooks of accounts that wait to be deleted. */
export const webhooksInWaiting = (db: Database) =>
  statement<{ id: string }>(db)`
    select w.id from deletions d cross join webhooks w on w.account_id = d.account_id
      where d.kind = 'account' and d.step is null`;

/** SQL that says whether deliveries are pending for one of these. */
export const hasPendingInWaiting: SQL = sql`exists (
  select 1 from deletions d cross join webhooks w on w.account_id = d.account_id
    cross join deliveries p indexed by deliveries_due on p.webhook_id = w.id and p.status = 'pending' and p.next_attempt_at is not null
  where d.kind = 'account' and d.step is null)`;

/** The statement that reads deletions. */
export const deletionsWhere = (db: Database, which: SQL) =>
  statement<Deletion>(db)`
    select id, kind, account_id as accountId, connection_id as connectionId, requested_at as requestedAt,
      due_at as dueAt, step, cursor, email
    from deletions where ${which}`;
