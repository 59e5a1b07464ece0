import { described, fault } from '../log.ts';

/** The key of a delivery's row, and everything that a queue message holds. */
export type DeliveryKey = { webhookId: string; id: string };

const perSend = 100;

/**
 * Sends one wake-up for each delivery. Best effort: the sweep wakes what the queue refuses. Returns how many were
 * sent.
 */
export async function wake(queue: Queue, keys: DeliveryKey[]): Promise<number> {
  let sent = 0;
  try {
    for (let at = 0; at < keys.length; at += perSend) {
      const batch = keys.slice(at, at + perSend).map(({ webhookId, id }) => ({ body: { webhookId, id } }));
      await queue.sendBatch(batch);
      sent += batch.length;
    }
  } catch (error) {
    fault('warn', { message: 'Queue refused wake-ups', left: keys.length - sent, ...described(error) });
  }
  return sent;
}
