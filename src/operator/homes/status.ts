import type * as v from 'valibot';
import { askHomes } from '../../platform/homes/each.ts';
import { addWaits, levelsOf } from '../../webhooks/service-levels.ts';
import { maxListed, maxPendingCounted } from '../api/counted.ts';
import type { DeliveryStatus, HeaderKey, StatusReport } from '../api/service.ts';
import { checkHomes, problemIn, warningIn } from '../health/service.ts';
import { deliveryStatus } from '../status.ts';

/**
 * The operators' overview: the service's health, and the deliveries of all homes that respond.
 *
 * @throws Refusal: unavailable, when the only home does not respond
 */
export async function status(env: Env): Promise<v.InferInput<typeof StatusReport>> {
  const [health, asked] = await Promise.all([checkHomes(env), askHomes(env, (home) => deliveryStatus(home))]);
  const found = together(asked.map(([, one]) => one));
  return {
    problem: problemIn(health) ?? keyProblem(found.headerKeys) ?? null,
    warning: warningIn(health) ?? null,
    health,
    ...found,
  };
}

/** A key was removed from HEADER_KEYS too early. */
function keyProblem(keys: HeaderKey[]): string | undefined {
  const missing = keys.filter(({ known }) => !known).map(({ key, encrypts }) => `${key} (${encrypts})`);
  return missing.length > 0
    ? `HEADER_KEYS lacks keys that webhook headers or credentials are encrypted with: ${missing.join(', ')}. Put them back`
    : undefined;
}

/** The worst of all homes first, cut to the length of one home's lists. */
function together(all: Awaited<ReturnType<typeof deliveryStatus>>[]): DeliveryStatus {
  const sumOf = (key: 'pending' | 'due' | 'later') =>
    Math.min(
      all.reduce((total, one) => total + one[key], 0),
      maxPendingCounted,
    );
  const oldest = all.flatMap(({ oldestPendingAt }) => oldestPendingAt ?? []);
  return {
    pending: sumOf('pending'),
    due: sumOf('due'),
    later: sumOf('later'),
    oldestPendingAt: oldest.length > 0 ? Math.min(...oldest) : null,
    serviceLevels: levelsOf(addWaits(all.map(({ waits }) => waits))),
    accidents: all
      .flatMap(({ accidents }) => accidents)
      .toSorted((a, b) => a.createdAt - b.createdAt)
      .slice(0, maxListed),
    failing: all
      .flatMap(({ failing }) => failing)
      .toSorted(
        (a, b) =>
          Number(b.failures > 0) - Number(a.failures > 0) || b.failed - a.failed || b.failures - a.failures,
      )
      .slice(0, maxListed),
    paused: all
      .flatMap(({ paused }) => paused)
      .toSorted((a, b) => b.pausedSince - a.pausedSince)
      .slice(0, maxListed),
    connections: all.flatMap(({ connections }) => connections).slice(0, maxListed),
    headerKeys: [
      ...Map.groupBy(
        all.flatMap(({ headerKeys }) => headerKeys),
        ({ key }) => key,
      ).values(),
    ].map((ofKey) => ({
      ...(ofKey[0] as HeaderKey), // each group has one
      encrypts: ofKey.reduce((sum, { encrypts }) => sum + encrypts, 0),
    })),
  };
}
