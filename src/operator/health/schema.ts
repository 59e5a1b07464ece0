import * as v from 'valibot';

/** The health of a home. */
const health = {
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
};
const HomeHealth = v.object(health);
export type Health = v.InferOutput<typeof HomeHealth>;

/** The health of the service, as `/health` and the operators see it: the worst of its homes, and each if there are several. */
export const HealthOutput = v.object({ ...health, homes: v.optional(v.record(v.string(), HomeHealth)) });
export type ServiceHealth = v.InferOutput<typeof HealthOutput>;
