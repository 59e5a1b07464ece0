import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { dayMs, hourMs } from '../../platform/durations.ts';
import type { Budget } from '../../platform/jobs/budget.ts';
import { changeInChunks, rowsPerChunk } from '../../platform/jobs/chunks.ts';

/**
 * Each hour looks through one of so many slices of the table, by key: all of it once in 30 days. That reads each row
 * once a month, at a thousandth of what an index by time would cost to write.
 */
export const pruneSlices = 30 * 24;

/** Replays may still need a notification for as long as this after the deliveries' retention. */
const graceMs = 7 * dayMs;

/**
 * Deletes old notifications that went to nobody, or whose deliveries were deleted without them. Once an hour, a slice
 * of the table at a time. Returns how many.
 */
export function pruneNotifications(env: Env, now = Date.now(), budget?: Budget): Promise<number> {
  const slice = Math.floor(now / hourMs) % pruneSlices;
  const before = now - config(env).retentionMs - graceMs;
  return changeInChunks(openDatabase(env), leftOverNotifications(slice, before), budget);
}

/**
 * The statement, apart so that a test can ask SQLite for its plan. Ids of records are UUIDs of version 5, hashes
 * that fill all slices alike.
 */
export const leftOverNotifications = (slice: number, before: number): SQL => sql`
  delete from notifications where (event_id, level) in (
    select event_id, level from notifications
    where event_id >= ${startOf(slice)} and event_id < ${startOf(slice + 1)} and created_at < ${before}
    limit ${rowsPerChunk})`;

/** The first id of a slice; `g` is past all of them. */
const startOf = (slice: number): string =>
  slice === pruneSlices
    ? 'g'
    : Math.floor((slice / pruneSlices) * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
