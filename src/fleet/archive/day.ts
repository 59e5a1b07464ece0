import { config } from '../../platform/config.ts';
import { dayMs, hourMs } from '../../platform/durations.ts';

/** Clocks differ from machine to machine: a day is archived so long after its records have become old. */
const graceMs = hourMs;

/** The day of a time, UTC, as the number of days since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** `2026-05-01` for a day. */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/**
 * Where hot data begins: records from before this time, in milliseconds since 1970, are in the archive or
 * will be. It is the beginning of a day, UTC; -Infinity without an archive.
 */
export function hotSince(env: Env, now = Date.now()): number {
  const { hotDays } = config(env);
  return hasArchive(env) && hotDays > 0 ? dayOf(now - hotDays * dayMs) * dayMs : -Infinity;
}

/** The first day that stays in D1; those before it are to be archived. */
export const firstHotDay = (env: Env, now = Date.now()): number => dayOf(hotSince(env, now - graceMs));

const hasArchive = (env: { ARCHIVE?: R2Bucket }): boolean => env.ARCHIVE !== undefined;
