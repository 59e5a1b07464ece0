import { fault } from '../log.ts';
import type { DeliveryKey } from './queue.ts';

/** Logs messages that failed ten times, one line each. Their deliveries are still due: the sweep wakes them. */
export function logDead(keys: DeliveryKey[]): void {
  for (const { webhookId, id } of keys)
    fault('error', { message: 'Wake-up failed ten times', webhookId, deliveryId: id });
}
