import { fault } from '../log.ts';
import type { DeliveryKey } from './queue.ts';

/** Tells of wake-ups that failed ten times, one line each. Their rows are still due: the sweep wakes them. */
export function tellDead(keys: DeliveryKey[]): void {
  for (const { webhookId, id } of keys)
    fault('error', { message: 'Wake-up failed ten times', webhookId, deliveryId: id });
}
