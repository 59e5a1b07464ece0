import type { SQL } from 'drizzle-orm';
import { sql } from 'drizzle-orm';
import { type Database, openDatabase, statement } from '../../platform/db/database.ts';

export type Kind = 'account' | 'connection' | 'driver';

/** An accepted deletion that is not done. Times are milliseconds since 1970. */
export type Deletion = {
  id: string;
  kind: Kind;
  accountId: string;
  connectionId: string | null;
  requestedAt: number;
  dueAt: number;
  /** Null until it has begun. */
  step: string | null;
  /** How far a step has come that scans a table. */
  cursor: string;
  /** A driver's address to look for, in lower case. */
  email: string | null;
};

export const maxDeletionsListed = 1000;

/** Accepted deletions that are not done, those due first before others; at most 1,000. */
export const listDeletions = (env: Env): Promise<Deletion[]> =>
  deletionsWhere(openDatabase(env), sql`true order by due_at limit ${maxDeletionsListed}`);

/** The webhooks of accounts that wait to be deleted. */
export const webhooksInWaiting = (db: Database) =>
  statement<{ id: string }>(db)`
    select w.id from deletions d cross join webhooks w on w.account_id = d.account_id
      where d.kind = 'account' and d.step is null`;

/** SQL for whether one of these has pending deliveries. */
export const hasPendingInWaiting: SQL = sql`exists (
  select 1 from deletions d cross join webhooks w on w.account_id = d.account_id
    cross join deliveries p indexed by deliveries_due on p.webhook_id = w.id and p.status = 'pending' and p.next_attempt_at is not null
  where d.kind = 'account' and d.step is null)`;

export const deletionsWhere = (db: Database, which: SQL) =>
  statement<Deletion>(db)`
    select id, kind, account_id as accountId, connection_id as connectionId, requested_at as requestedAt,
      due_at as dueAt, step, cursor, email
    from deletions where ${which}`;
