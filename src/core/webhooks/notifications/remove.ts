import { and, eq, gte, lt, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
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
  const db = openDatabase(env);
  return changeInChunks(db, leftOverNotifications(db, slice, before), budget);
}

/** The statement. Ids of records are hashes, which fill all slices evenly. */
export function leftOverNotifications(db: Database, slice: number, before: number) {
  const { eventId, level, createdAt } = notifications;
  const keys = db
    .select({ eventId, level })
    .from(notifications)
    .where(
      and(gte(eventId, startOf(slice)), lt(eventId, startOf(slice + 1)), lt(createdAt, before)),
    )
    .limit(rowsPerChunk);
  return db.delete(notifications).where(isAmong(keys));
}

const isAmong = (keys: SQLWrapper): SQL =>
  sql`(${notifications.eventId}, ${notifications.level}) in ${keys}`;

/** The first id of a slice; `g` is after all of them. */
const startOf = (slice: number): string =>
  slice === pruneSlices
    ? 'g'
    : Math.floor((slice / pruneSlices) * 2 ** 32)
        .toString(16)
        .padStart(8, '0');

/** The statement that deletes the notifications of a connection among `keys`. */
export const removeNotifications = (db: Database, keys: SQL, connectionId: string) =>
  db.delete(notifications).where(and(isAmong(keys), eq(notifications.connectionId, connectionId)));

/** The statement that removes an address in lower case from the notifications `keys`. */
export function eraseRecipient(db: Database, keys: SQL, email: string) {
  const { data } = notifications;
  const recipients = withoutText(sql`${data}->'recipients'`, email);
  return db
    .update(notifications)
    .set({ data: sql`json_set(${data}, '$.recipients', ${recipients})` })
    .where(and(isAmong(keys), sql`instr(lower(${data}), ${email}) > 0`));
}

/** Deletes notifications by their keys. The event or the accident still knows what was notified. */
export const deleteNotifications = (db: Database, keys: { eventId: string; level: number }[]) =>
  db.delete(notifications).where(
    isAmong(sql`(
      select value->>'eventId', value->>'level' from json_each(${JSON.stringify(keys)}))`),
  );
