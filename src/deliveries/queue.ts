import { described, fault } from '../log.ts';

/** The key of a delivery's row. */
export type DeliveryKey = { webhookId: string; id: string };

/**
 * Says that a webhook has work. `lane` counts the invocations that work for it side by side: each new one that finds
 * enough to do wakes two more. `timer` is when the message was meant to come, for one that waited for retries.
 */
export type Wake = { accountId: string; webhookId: string; lane: number; timer?: number };

/** Says that a large call's deliveries are not all there yet. */
export type FanOut = { fanOut: string };

/** What the queue carries. */
export type QueueMessage = Wake | FanOut;

const perSend = 100;

/**
 * Sends messages. Best effort: the sweep wakes what the queue refuses. Returns how many were sent.
 */
export async function send(queue: Queue, messages: QueueMessage[]): Promise<number> {
  let sent = 0;
  try {
    for (let at = 0; at < messages.length; at += perSend) {
      const batch = messages.slice(at, at + perSend).map((body) => ({ body }));
      await queue.sendBatch(batch);
      sent += batch.length;
    }
  } catch (error) {
    fault('warn', { message: 'Queue refused wake-ups', left: messages.length - sent, ...described(error) });
  }
  return sent;
}

/** The first lane of each of these webhooks. */
export const wakeOf = (accountId: string, webhookIds: string[]): Wake[] =>
  [...new Set(webhookIds)].map((webhookId) => ({ accountId, webhookId, lane: 1 }));
