/**
 * Durations, such as response times, as counts by bucket, so that one row of counters holds any number of them and rows
 * can be added. Bucket i holds those above bucket i - 1 and up to `upperBoundMs(i)`.
 */
export type Histogram = { [bucket: string]: number };

const firstUpperBoundMs = 5;
const growth = 1.25;
const lastBucket = 85; // up to 10 days: a delivery has failed before that

/** The bucket of what never happened. */
export const never = lastBucket + 1;

/** The upper bound of a bucket: each is a quarter wider than the one before. */
const upperBoundMs = (bucket: number): number => firstUpperBoundMs * growth ** bucket;

export function bucketOf(ms: number): number {
  const bucket = Math.ceil(Math.log(Math.max(ms, firstUpperBoundMs) / firstUpperBoundMs) / Math.log(growth));
  return Math.min(lastBucket, Math.max(0, bucket));
}

/** A wait in words: "9.8 ms", "0.21 s", "4.2 min", "13 h". */
export function waitInWords(seconds: number | null): string {
  if (seconds === null) return 'never';
  const [value, unit] =
    seconds < 0.1
      ? [seconds * 1000, 'ms']
      : seconds < 60
        ? [seconds, 's']
        : seconds < 3600
          ? [seconds / 60, 'min']
          : [seconds / 3600, 'h'];
  return `${Number(value.toPrecision(2))} ${unit}`;
}

export function addHistograms(all: Histogram[]): Histogram {
  const sum: Histogram = {};
  for (const histogram of all)
    for (const [bucket, count] of Object.entries(histogram)) sum[bucket] = (sum[bucket] ?? 0) + count;
  return sum;
}

/**
 * The duration, in milliseconds, within which a `share` (0 to 1) of them were; null if there are none, and infinite if
 * that many never ended. Accurate to the width of a bucket, and rounded to two digits.
 */
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
