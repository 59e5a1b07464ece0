import type * as v from 'valibot';
import { askHomes } from '../../platform/homes/each.ts';
import { addWaits, levelsOf } from '../../webhooks/service-levels.ts';
import { maxPendingCounted } from '../api/counted.ts';
import type { DeliveryStatus, StatusReport } from '../api/service.ts';
import { checkHomes, problemIn, warningIn } from '../health/service.ts';
import { deliveryStatus, maxListed } from '../status.ts';

/**
 * What operators look at first: the service's health, and how the deliveries of all homes that can be asked are doing.
 *
 * @throws Refusal: unavailable, when the only home cannot be asked
 */
export async function status(env: Env): Promise<v.InferInput<typeof StatusReport>> {
  const [health, asked] = await Promise.all([checkHomes(env), askHomes(env, (home) => deliveryStatus(home))]);
  return {
    problem: problemIn(health) ?? null,
    warning: warningIn(health) ?? null,
    health,
    ...together(asked.map(([, one]) => one)),
  };
}

/** What is worst in any home comes first, cut to as many as one home would have. */
function together(all: Awaited<ReturnType<typeof deliveryStatus>>[]): DeliveryStatus {
  const counted = (key: 'pending' | 'due' | 'later') =>
    Math.min(
      all.reduce((total, one) => total + one[key], 0),
      maxPendingCounted,
    );
  const oldest = all.flatMap(({ oldestPendingAt }) => oldestPendingAt ?? []);
  return {
    pending: counted('pending'),
    due: counted('due'),
    later: counted('later'),
    oldestPendingAt: oldest.length > 0 ? Math.min(...oldest) : null,
    serviceLevels: levelsOf(addWaits(all.map(({ waits }) => waits))),
    failing: all
      .flatMap(({ failing }) => failing)
      .toSorted((a, b) => b.failed - a.failed || b.failures - a.failures)
      .slice(0, maxListed),
    paused: all
      .flatMap(({ paused }) => paused)
      .toSorted((a, b) => b.pausedSince - a.pausedSince)
      .slice(0, maxListed),
    connections: all.flatMap(({ connections }) => connections).slice(0, maxListed),
  };
}
