import { described, fault } from '../../platform/log.ts';
import { ACCIDENT, type NotificationType } from '../notifications/types.ts';

/** The key of a delivery's row. */
export type DeliveryKey = { webhookId: string; id: string };

/**
 * Says that a webhook has work. `worker` counts the invocations that work for it side by side: each new one that finds
 * enough to do wakes two more. `timer` is when the message was meant to come, for one that waited for retries.
 * `accidents` is for accidents alone, which so wait for no worker that is busy with events.
 */
export type Wake = {
  accountId: string;
  webhookId: string;
  worker: number;
  timer?: number;
  accidents?: boolean;
};

/** Says that a large call's deliveries are not all there yet. */
export type FanOut = { fanOut: string };

/** What the queue carries of deliveries. */
export type DeliveryMessage = Wake | FanOut;

/** Says that connections are due to pull from their providers. */
export type Pull = { pull: string[] };

/** What the queue carries; in homes other than main with the home's name. */
export type QueueMessage = (DeliveryMessage | Pull) & { home?: string };

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

/** The first worker of each of these webhooks, for what is due or for notifications of one type. */
export const wakeOf = (accountId: string, webhookIds: string[], type?: NotificationType): Wake[] =>
  [...new Set(webhookIds)].map((webhookId) => ({
    accountId,
    webhookId,
    worker: 1,
    ...(type === ACCIDENT && { accidents: true }),
  }));
