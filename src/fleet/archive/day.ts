import { config } from '../../platform/config.ts';
import { dayMs, hourMs } from '../../platform/durations.ts';

/** How long after its records have become old a day is archived, because clocks differ. */
const graceMs = hourMs;

/** The UTC day of a time, in days since 1970. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs);

/** `2026-05-01` for a day. */
export const dateOf = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** When hot data begins (milliseconds since 1970), with a UTC day; -Infinity without an archive. */
function hotSince(env: Env, now = Date.now()): number {
  const { hotDays } = config(env);
  return env.ARCHIVE && hotDays > 0 ? dayOf(now - hotDays * dayMs) * dayMs : -Infinity;
}

/** The first day that stays in D1. */
export const firstHotDay = (env: Env, now = Date.now()): number => dayOf(hotSince(env, now - graceMs));
