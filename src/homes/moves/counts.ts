import { sql } from 'drizzle-orm';
import { openDatabase, statement } from '../../platform/db/database.ts';
import { countOf, raw } from './pages.ts';
import { movedTables } from './tables.ts';

/** How many rows an account has in a home, by table; but for notifications, which no index leads to. */
export async function countRows(env: Env, accountId: string): Promise<Record<string, number>> {
  const counts = movedTables.flatMap((table) => {
    const count = countOf(table, accountId);
    return count ? [sql`${count} as ${raw(`"${table.name}"`)}`] : [];
  });
  const [found = {}] = await statement<Record<string, number>>(
    openDatabase(env),
    sql`select ${sql.join(counts, sql`, `)}`,
  );
  return found;
}

/** What differs between two counts, in words; undefined if nothing does. */
export function difference(old: Record<string, number>, copied: Record<string, number>): string | undefined {
  const differing = Object.entries(old).filter(([table, count]) => copied[table] !== count);
  if (differing.length === 0) return undefined;
  return differing
    .map(([table, count]) => `${table} has ${count} rows and ${copied[table]} copied`)
    .join('; ');
}
