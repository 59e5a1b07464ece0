import { log } from '../log.ts';
import { ACCIDENT } from '../notifications/types.ts';
import type { Claimed } from './claims.ts';
import type { Outcome } from './policy.ts';

/**
 * Logs one attempt, which took `ms`, and writes a point to Analytics Engine: an invocation may write 250, and a batch
 * makes at most 100. Never throws: observing deliveries must not stop them.
 */
export function logAttempt(env: Env, delivery: Claimed, { ms, ...outcome }: Outcome & { ms: number }): void {
  const { requestId, id: deliveryId, webhookId, accountId, type, attempts } = delivery;
  const { result, status = null } = outcome;
  const attempt = attempts + 1;
  log({
    level: 'info',
    kind: 'attempt',
    requestId,
    deliveryId,
    webhookId,
    accountId,
    type,
    attempt,
    result,
    status,
    ms,
  });
  try {
    env.ATTEMPTS.writeDataPoint({
      indexes: [accountId],
      blobs: [type === ACCIDENT ? 'accident' : 'event', result, webhookId],
      doubles: [ms, attempt, status ?? 0],
    });
  } catch {
    // the line above says the same
  }
}
