import * as v from 'valibot';

/** The health of the service, as `/health` and the operators see it. */
export const HealthOutput = v.object({
  database: v.picklist(['ok', 'unavailable']),
  queueBacklog: v.nullable(v.pipe(v.number(), v.integer())),
  oldestDueSeconds: v.nullable(v.pipe(v.number(), v.integer())),
  sweptSecondsAgo: v.nullable(v.pipe(v.number(), v.integer())),
  size: v.nullable(
    v.object({
      bytes: v.pipe(v.number(), v.integer()),
      share: v.number(),
      daysLeft: v.nullable(v.pipe(v.number(), v.integer())),
    }),
  ),
});
export type Health = v.InferOutput<typeof HealthOutput>;
