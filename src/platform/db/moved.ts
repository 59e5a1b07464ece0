import { sql } from 'drizzle-orm';
import { openDatabase, statement } from './database.ts';

/** The home that an account has moved to from this one; undefined if it lives here. */
export async function homeOfMoved(env: Env, accountId: string): Promise<string | undefined> {
  const [found] = await statement<{ home: string | null }>(
    openDatabase(env),
    sql`select home from accounts where id = ${accountId}`,
  );
  return found?.home ?? undefined;
}
