import type { Attempt } from './policy.ts';

export type DeliveryKey = { webhookId: string; id: string };

/** A claimed delivery; `wanted` if its webhook still subscribes to it. */
export type ClaimedDelivery = DeliveryKey & {
  claimedUntil: number;
  attempts: number;
  accountId: string;
  eventId: string;
  type: number;
  level: number;
  data: string;
  /** Whether it is neither a replay nor a test. */
  first: number;
  /** The request that brought the notification, if known. */
  requestId: string | null;
  wanted: boolean;
};

/** The outcome of a claimed delivery; `attempt` is missing if none was made. */
export type Recorded = {
  delivery: ClaimedDelivery;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  nextAttemptAt?: number;
  attempt?: Attempt;
};
