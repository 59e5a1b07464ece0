import * as v from 'valibot';
import { count, described } from '../platform/replies.ts';

/** Durations by bucket: bucket i has those up to `upperBoundMs(i)`. */
export type Histogram = { [bucket: string]: number };

const firstUpperBoundMs = 5;
const growth = 1.25;
const lastBucket = 85; // up to 10 days: a delivery has failed before that

/** The upper bound of a bucket: each is a quarter wider than the one before. */
const upperBoundMs = (bucket: number): number => firstUpperBoundMs * growth ** bucket;

/** The bucket of a duration. What never happened, infinite, has the one after the last. */
export function bucketOf(ms: number): number {
  if (ms === Number.POSITIVE_INFINITY) return lastBucket + 1;
  const bucket = Math.ceil(Math.log(Math.max(ms, firstUpperBoundMs) / firstUpperBoundMs) / Math.log(growth));
  return Math.min(lastBucket, Math.max(0, bucket));
}

/** Accidents should be attempted within this time. */
const promptMs = 5_000;

type Waits = { firstAttempt?: number | undefined; success?: number | undefined };

/** Counts the waits of some deliveries, infinite for what they never had: by type and bucket. */
export const countWaits = (
  type: 'accident' | 'event',
  { firstAttempt, success }: Waits,
  count = 1,
): Histogram => ({
  ...(firstAttempt !== undefined && { [`${type}FirstAttempt${bucketOf(firstAttempt)}`]: count }),
  ...(firstAttempt !== undefined && firstAttempt <= promptMs && { [`${type}InTime`]: count }),
  ...(success !== undefined && { [`${type}Success${bucketOf(success)}`]: count }),
});

/** The counters that `countWaits` calls by this name and a bucket. */
export function waitsCalled(name: string, counters: Histogram): Histogram {
  const found = Object.entries(counters).filter(([one]) => one.startsWith(name));
  return Object.fromEntries(found.map(([one, count]) => [one.slice(name.length), count]));
}

/** A wait in words: "9.8 ms", "0.21 s", "4.2 min", "13 h". */
export function waitInWords(seconds: number | null): string {
  if (seconds === null) return 'never';
  const [unit, size] = units.find(([, , below]) => seconds < below) ?? ['h', 3600];
  return `${Number((seconds / size).toPrecision(2))} ${unit}`;
}

/** A unit, how many seconds it has, and for waits of less than so many. */
const units = [
  ['ms', 0.001, 0.1],
  ['s', 1, 60],
  ['min', 60, 3600],
] as const;

export function addHistograms(all: Histogram[]): Histogram {
  const sum: Histogram = {};
  for (const histogram of all)
    for (const [bucket, count] of Object.entries(histogram)) sum[bucket] = (sum[bucket] ?? 0) + count;
  return sum;
}

/** How many ms a `share` of them took at most; null for none, perhaps infinite. */
export function percentile(histogram: Histogram, share: number): number | null {
  const total = Object.values(histogram).reduce((sum, count) => sum + count, 0);
  let below = 0;
  for (let bucket = 0; bucket <= lastBucket; bucket++) {
    const count = histogram[bucket] ?? 0;
    if (count > 0 && below + count >= share * total) {
      const from = bucket === 0 ? 0 : upperBoundMs(bucket - 1);
      return Number(
        (from + ((upperBoundMs(bucket) - from) * (share * total - below)) / count).toPrecision(2),
      );
    }
    below += count;
  }
  return total > 0 ? Number.POSITIVE_INFINITY : null;
}

/** Seconds; null if there were no deliveries, or if too many of them never finished. */
const seconds = v.pipe(
  v.nullable(v.number()),
  v.transform((value) => (value === Number.POSITIVE_INFINITY ? null : value)),
  v.nullable(v.number()),
);
export const WaitQuantiles = v.object({ p50: seconds, p95: seconds, p99: seconds });

/** How long deliveries waited, in seconds. */
export const ServiceLevel = v.object({
  count,
  inTime: described(v.nullable(v.number()), 'The share first attempted within 5 s, from 0 to 1.'),
  firstAttempt: WaitQuantiles,
  delivered: WaitQuantiles,
});
export type ServiceLevel = v.InferInput<typeof ServiceLevel>;
