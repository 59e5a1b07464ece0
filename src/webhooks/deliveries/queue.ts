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

/** The first worker of each of these webhooks, for what is due or for notifications of one type. */
export const wakeOf = (accountId: string, webhookIds: string[], type?: NotificationType): Wake[] =>
  [...new Set(webhookIds)].map((webhookId) => ({
    accountId,
    webhookId,
    worker: 1,
    ...(type === ACCIDENT && { accidents: true }),
  }));
