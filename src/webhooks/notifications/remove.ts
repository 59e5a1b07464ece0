import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { type Database, withoutText } from '../../platform/db/database.ts';
import { notifications } from '../../platform/db/schema/webhooks.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { dayMs, hourMs } from '../../platform/durations.ts';
import type { Budget } from '../../platform/jobs/budget.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';

/** Each hour scans a slice of the table: an index by time would cost a thousand times as much. */
export const pruneSlices = 30 * 24;

/** How long beyond the deliveries' retention replays may need a notification. */
const graceMs = 7 * dayMs;

/** Deletes old notifications without deliveries, a slice at a time. Returns how many. */
export function pruneNotifications(env: Env, now = Date.now(), budget?: Budget): Promise<number> {
  const slice = Math.floor(now / hourMs) % pruneSlices;
  const before = now - config(env).retentionMs - graceMs;
  return changeInChunks(openDatabase(env), leftOverNotifications(slice, before), budget);
}

/** The statement. Ids of records are hashes, which fill all slices evenly. */
export const leftOverNotifications = (slice: number, before: number): SQL => sql`
  delete from notifications where (event_id, level) in (
    select event_id, level from notifications
    where event_id >= ${startOf(slice)} and event_id < ${startOf(slice + 1)} and created_at < ${before}
    limit ${rowsPerChunk})`;

/** The first id of a slice; `g` is after all of them. */
const startOf = (slice: number): string =>
  slice === pruneSlices
    ? 'g'
    : Math.floor((slice / pruneSlices) * 2 ** 32)
        .toString(16)
        .padStart(8, '0');

/** Deletes the notifications of a connection from those that `keys` selects. */
export const removeNotifications = (keys: SQL, connectionId: string): SQL => sql`
  delete from notifications where (event_id, level) in (${keys}) and connection_id = ${connectionId}`;

/** Removes an address in lower case from the notifications `keys`. */
export const eraseRecipient = (keys: SQL, email: string): SQL => sql`
  update notifications set data = json_set(data, '$.recipients', ${withoutText(sql`data->'recipients'`, email)})
  where (event_id, level) in (${keys}) and instr(lower(data), ${email}) > 0`;

/** Deletes notifications by their keys. The event or the accident still knows what was notified. */
export const deleteNotifications = (db: Database, keys: { eventId: string; level: number }[]) =>
  db.delete(notifications).where(sql`
    (${notifications.eventId}, ${notifications.level}) in (
      select value->>'eventId', value->>'level' from json_each(${JSON.stringify(keys)}))`);
