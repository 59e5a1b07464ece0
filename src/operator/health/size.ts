import { sql } from 'drizzle-orm';
import { change, type Database, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { dayMs } from '../../platform/durations.ts';
import { fault } from '../../platform/log.ts';

/** How large a database can become (bytes): Cloudflare's limit. */
export const mostBytes = 10_000_000_000;

/** From this share on somebody should do something about it, and from this one at once. */
export const warningShare = 0.8;
export const errorShare = 0.95;

/** The rate is that of so many days, or as many as are known. Sizes are kept for somewhat longer. */
const rateDays = 14;
const keptDays = 60;

/** How full a database is, and in how many days it will be full at the rate of the last two weeks; null if it is not growing. */
export type Size = { bytes: number; share: number; daysLeft: number | null };

/** Works out how full a database is from its size now and on an earlier day (since 1970). */
export function sizeOf(bytes: number, now: number, earlier?: { bytes: number; day: number }): Size {
  const days = earlier ? now / dayMs - earlier.day : 0;
  const perDay = earlier && days >= 1 ? (bytes - earlier.bytes) / days : 0;
  const daysLeft = perDay > 0 ? Math.max(0, Math.floor((mostBytes - bytes) / perDay)) : null;
  return { bytes, share: Math.round((bytes / mostBytes) * 1000) / 1000, daysLeft };
}

/** The statement that reads what the rate follows from: the oldest size of the last two weeks. */
export const earlierSize = (db: Database, now: number) =>
  statement<{ day: number; bytes: number }>(db)`
    select day, bytes from database_sizes where day >= ${Math.floor(now / dayMs) - rateDays}
      order by day limit 1`;

/** Notes how large the database is, once an hour; logs it as an error when it is nearly full. Returns its size. */
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

/** Logs an error when a database is nearly full. */
export function tellOfSize(bytes: number): void {
  const percent = Math.floor((bytes / mostBytes) * 100);
  if (bytes > errorShare * mostBytes) fault('error', { message: 'The database is nearly full', percent });
}
