import { type DeliveredLine, log } from '../../platform/log.ts';
import { ACCIDENT } from '../notifications/types.ts';
import type { Claimed } from './claim.ts';
import type { Outcome } from './policy.ts';
import type { Recorded } from './record.ts';

/**
 * Logs the attempts of a lane that are about to be recorded: one line for all that were successful, with what it
 * takes to follow each, and one for each that failed.
 */
export function logAttempts(webhookId: string, outcomes: Recorded[]): void {
  const delivered: DeliveredLine['deliveries'] = [];
  let accountId = '';
  for (const { key, attempt } of outcomes) {
    if (!attempt) continue;
    const { requestId, id: deliveryId, type } = key;
    const { result, status = null, durationMs: ms } = attempt;
    const made = { requestId, deliveryId, type, attempt: key.attempts + 1, status, ms };
    accountId = key.accountId;
    if (result === 'success') delivered.push(made);
    else log({ level: 'info', kind: 'attempt', webhookId, accountId, result, ...made });
  }
  if (delivered.length > 0)
    log({ level: 'info', kind: 'delivered', webhookId, accountId, deliveries: delivered });
}

/**
 * Writes a point to Analytics Engine for one attempt, which took `ms`; an invocation may write 250. Never throws:
 * observing deliveries must not stop them.
 */
export function countAttempt(
  env: Env,
  { webhookId, accountId, type, attempts }: Claimed,
  { ms, result, status }: Outcome & { ms: number },
): void {
  try {
    env.ATTEMPTS.writeDataPoint({
      indexes: [accountId],
      blobs: [type === ACCIDENT ? 'accident' : 'event', result, webhookId],
      doubles: [ms, attempts + 1, status ?? 0],
    });
  } catch {
    // the log has it as well
  }
}
