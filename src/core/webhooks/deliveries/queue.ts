import { ACCIDENT, type NotificationType } from '../notifications/types.ts';

/**
 * Wakes a webhook. `worker` numbers those in parallel; `timer` is when retries were due. A claim has 40 deliveries; an
 * invocation 140 transactions, of which accounts take turns; a webhook 50 calls in flight.
 */
export type Wake = {
  accountId: string;
  webhookId: string;
  worker: number;
  timer?: number;
  accidents?: boolean;
};

/** 500 deliveries a step, 800 queries an invocation; one large transaction of each account at a time. */
export type FanOut = { fanOut: string };

/** `swept` if the sweep has found it, and will again. */
export type DeliveryMessage = (Wake | FanOut) & { swept?: true };

/** Messages for the first worker of each of these webhooks. */
export const wakeOf = (accountId: string, webhookIds: string[], type?: NotificationType): Wake[] =>
  [...new Set(webhookIds)].map((webhookId) => ({
    accountId,
    webhookId,
    worker: 1,
    ...(type === ACCIDENT && { accidents: true }),
  }));

/** Sends a delayed message. Best effort: the sweep wakes what the queue refuses. */
export const sendAfter = async (
  env: Env,
  message: DeliveryMessage,
  delaySeconds: number,
): Promise<void> => void (await env.DELIVERIES.send(message, { delaySeconds }).catch(() => {}));
