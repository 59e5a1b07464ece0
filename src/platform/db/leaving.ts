import { sql } from 'drizzle-orm';
import { type Database, statement } from './database.ts';
import type { Caller } from './guard.ts';

/**
 * The account's connections that are being deleted. They are the account's no more, but their records carry its id until
 * they are gone: what reads records by account leaves these out. Nearly always there is none, and it reads no row.
 */
export const leavingConnections = (db: Database, { accountId }: Caller) =>
  statement<{ id: string }>(
    db,
    sql`select id from deletions where account_id = ${accountId} and kind = 'connection'`,
  );
