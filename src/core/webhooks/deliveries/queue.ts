import { ACCIDENT, type NotificationType } from '../notifications/types.ts';

/** Wakes a webhook. `worker` numbers those in parallel; `timer` is when retries were due. */
export type Wake = {
  accountId: string;
  webhookId: string;
  worker: number;
  timer?: number;
  accidents?: boolean;
};

export type FanOut = { fanOut: string };

export type DeliveryMessage = Wake | FanOut;

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
