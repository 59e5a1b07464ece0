import type { Attempt } from './policy.ts';

/** An attempt as a row has it: of a success only when it began, how long it took, and the status. */
export type StoredAttempt = Attempt | [at: number, durationMs: number, status: number];

export const toStored = (attempt: Attempt): StoredAttempt =>
  attempt.result === 'success' ? [attempt.at, attempt.durationMs, attempt.status] : attempt;

export function fromStored(stored: StoredAttempt): Attempt {
  if (!Array.isArray(stored)) return stored;
  const [at, durationMs, status] = stored;
  return { at, durationMs, result: 'success', status };
}

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
