import { type SQL, sql } from 'drizzle-orm';

/** SQL for `firstIdAt` of the time in `ms`. */
export const firstIdAtSql = (ms: SQL): SQL =>
  sql`format('%08x-%04x-0000-0000-000000000000', ${ms} >> 16, ${ms} & 65535)`;

/** SQL for a new id of the time `now` (milliseconds since 1970), random from row to row. */
export function uuidV7Sql(now: number): SQL {
  const time = now.toString(16).padStart(12, '0');
  const prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`;
  return sql`${prefix} || substr(lower(hex(randomblob(2))), 2) || '-' ||
    substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(2))), 2) || '-' ||
    lower(hex(randomblob(6)))`;
}
