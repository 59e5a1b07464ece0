import { sql } from 'drizzle-orm';
import { note } from '../accounts/audit/note.ts';
import { nobody } from '../accounts/owner.ts';
import { change, type Database, openDatabase, refuseUnless, statement } from '../platform/db/database.ts';
import type { Caller } from '../platform/db/guard.ts';

/** The statements that take a connection of this very name from its account: it is unknown from then on. */
export const takeConnection = (db: Database, caller: Caller, id: string, name: string) => {
  const own = sql`id = ${id} and account_id = ${caller.accountId}`;
  return [
    refuseUnless(db, sql`(select coalesce(name, tsp) from connections where ${own}) = ${name}`, 'wrong name'),
    note(db, caller, {
      action: 'deleted',
      subject: 'connection',
      of: sql`select id, coalesce(name, tsp) as name from connections where ${own}`,
    }),
    change(db, sql`update connections set account_id = ${nobody} where ${own}`),
  ] as const;
};

/** The statement that deletes a connection's row, once nothing names it. */
export const deleteConnectionRow = (db: Database, id: string) =>
  change(db, sql`delete from connections where id = ${id}`);

/** The first connection that the account has left. */
export async function firstConnection(env: Env, accountId: string): Promise<string | undefined> {
  const [row] = await statement<{ id: string }>(
    openDatabase(env),
    sql`select id from connections where account_id = ${accountId} order by created_at, id limit 1`,
  );
  return row?.id;
}
