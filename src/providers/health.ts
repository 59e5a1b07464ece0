import { dayMs } from '../platform/durations.ts';
import { type FeedName, feedNames } from './connector.ts';
import type { Planned } from './plan.ts';

/** As in connections: 1 healthy, 2 warning, 3 unavailable, 4 degraded. */
export type HealthStatus = 1 | 2 | 3 | 4;

/** A feed that has failed for this long is late. */
export const lateMs = 5 * 60_000;

/** A feed without a success for this long is late, whatever the reason; successes are recorded each 5 minutes. */
const quietMs = 3 * lateMs;

/** A connection without a success for this long is unavailable. */
export const silentMs = dayMs;

/**
 * A connection's health: unavailable when the provider refuses its credential, or nothing could be pulled for a day;
 * degraded when some of its feeds fail, and warning when all do.
 */
export function healthOf(
  planned: Planned,
  { refusedAt, succeededAt, now }: { refusedAt: number | null; succeededAt: number | null; now: number },
): HealthStatus {
  if (refusedAt !== null) return 3;
  const quietFor = now - (succeededAt ?? planned.connectedAt);
  if (quietFor > silentMs) return 3;
  const names = feedNames.filter((name) => planned.connector.feeds[name]);
  const failing = names.filter((name) => isFailing(planned, name, now));
  if (failing.length === 0) return quietFor > quietMs ? 2 : 1;
  return failing.length === names.length ? 2 : 4;
}

/** Whether a feed has failed for so long that people should know. */
export function isFailing({ feeds }: Planned, name: FeedName, now: number): boolean {
  const problem = feeds[name]?.problem;
  return problem !== undefined && (problem.kind === 'not permitted' || now - problem.since > lateMs);
}
