import { sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { fault } from '../../platform/log.ts';

/** Cloudflare's limit for a database, in bytes. */
export const mostBytes = 10_000_000_000;

/** The shares at which somebody should act soon, and at once. */
export const warningShare = 0.8;
export const errorShare = 0.95;

/** The growth rate is that of the last 14 days, or as many as are known; sizes are kept somewhat longer. */
const rateDays = 14;
const keptDays = 60;

/** How full a database is, and in how many days it will be full at the current rate; null if it is not growing. */
export type Size = { bytes: number; share: number; daysLeft: number | null };

/** How full a database is, from its size now and on an earlier day (since 1970). */
export function sizeOf(bytes: number, now: number, earlier?: { bytes: number; day: number }): Size {
  const days = earlier ? now / dayMs - earlier.day : 0;
  const perDay = earlier && days >= 1 ? (bytes - earlier.bytes) / days : 0;
  const daysLeft = perDay > 0 ? Math.max(0, Math.floor((mostBytes - bytes) / perDay)) : null;
  return { bytes, share: Math.round((bytes / mostBytes) * 1000) / 1000, daysLeft };
}

/** The statement that reads the oldest size within the rate's days. */
export const earlierSize = (db: Database, now: number) =>
  statement<{ day: number; bytes: number }>(db)`
    select day, bytes from database_sizes where day >= ${Math.floor(now / dayMs) - rateDays}
      order by day limit 1`;

/** Records the database's size once an hour, and logs an error when it is nearly full. Returns the size. */
export async function noteSize(env: Env, now = Date.now()): Promise<number> {
  const db = openDatabase(env);
  const day = Math.floor(now / dayMs);
  const [{ meta }] = await transaction(
    db,
    [change(db)`delete from database_sizes where day < ${day - keptDays}`],
    { repeatable: true },
  );
  const bytes = meta.size_after;
  await db.run(sql`
    insert into database_sizes (day, bytes) values (${day}, ${bytes}) on conflict do nothing`);
  tellOfSize(bytes);
  return bytes;
}

export function tellOfSize(bytes: number): void {
  const percent = Math.floor((bytes / mostBytes) * 100);
  if (bytes > errorShare * mostBytes) fault('error', { message: 'The database is nearly full', percent });
}
