import { ACCIDENT, type NotificationType } from '../notifications/types.ts';

/**
 * Wakes a webhook. `worker` numbers the invocations that work for it in parallel: each new one that finds enough to do
 * wakes two more. `timer` is when a message for retries was due. `accidents` is for accidents alone, which so wait for
 * no worker that is busy with events.
 */
export type Wake = {
  accountId: string;
  webhookId: string;
  worker: number;
  timer?: number;
  accidents?: boolean;
};

/** Continues the fan-out of a large call. */
export type FanOut = { fanOut: string };

export type DeliveryMessage = Wake | FanOut;

/** Messages for the first worker of each of these webhooks, for what is due or for notifications of one type. */
export const wakeOf = (accountId: string, webhookIds: string[], type?: NotificationType): Wake[] =>
  [...new Set(webhookIds)].map((webhookId) => ({
    accountId,
    webhookId,
    worker: 1,
    ...(type === ACCIDENT && { accidents: true }),
  }));

/** Sends a delayed message. Best effort: the sweep wakes what the queue refuses. */
export const sendAfter = async (env: Env, message: DeliveryMessage, delaySeconds: number): Promise<void> =>
  void (await env.DELIVERIES.send(message, { delaySeconds }).catch(() => {}));
