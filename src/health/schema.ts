import * as v from 'valibot';

/** How the service is doing, as `/health` and the operators see it. */
export const HealthOutput = v.object({
  database: v.picklist(['ok', 'unavailable']),
  queueBacklog: v.nullable(v.pipe(v.number(), v.integer())),
  oldestDueSeconds: v.nullable(v.pipe(v.number(), v.integer())),
});
export type Health = v.InferOutput<typeof HealthOutput>;
