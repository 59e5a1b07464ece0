import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../db/database.ts';
import type { Sealed } from '../sealing.ts';
import { circuitAfter, defaultCeiling } from './policy.ts';
import type { DeliveryKey } from './queue.ts';

/** How long after the claim a call may start; what has not started by then is put back. */
export const startWindowMs = 5_000;

/** How long a claim holds: longer than the start window, the duration of a call (15 s) and of recording it. */
export const leaseMs = 30_000;

/** A webhook as a lane sees it, with the state of its receiver. */
export type ClaimedWebhook = {
  accountId: string;
  url: string;
  httpVerb: string;
  headers: Sealed;
  /** The most calls that it may have in flight now. */
  window: number;
  /** How many attempts have failed in a row. */
  failures: number;
  /** While it is in the future, the circuit is open. */
  openUntil: number;
  /** When the message comes that wakes the webhook for its retries; null if none does. */
  timerAt: number | null;
};

/** A claimed delivery with its notification; `wanted` is false if the webhook no longer subscribes to it. */
export type Claimed = DeliveryKey & {
  claimedUntil: number;
  attempts: number;
  accountId: string;
  type: number;
  level: number;
  data: string;
  /** The request that brought the notification in, if known. */
  requestId: string | null;
  wanted: boolean;
};

/**
 * The statements that claim up to `count` due deliveries of a webhook, to be run in one batch: the webhook's row, and
 * the claimed deliveries. Claims come from a window of the webhook's first due deliveries, accidents first. Claimed
 * ones stay in the window until they are recorded, so its size bounds the calls in flight. It is 0 while the
 * circuit is open, and 1 when a probe may go through.
 */
export const claimStatements = (db: Database, webhookId: string, count: number, now: number) =>
  [
    statement<WebhookRow>(
      db,
      sql`
      select w.account_id as accountId, w.url, w.http_verb as httpVerb, w.headers,
        coalesce(h.failures, 0) as failures, coalesce(h.open_until, 0) as openUntil, h.timer_at as timerAt,
        ${windowOf(now)} as window
      from webhooks w left join webhook_health h on h.webhook_id = w.id where w.id = ${webhookId}`,
    ),
    statement<ClaimedRow>(
      db,
      sql`
      update deliveries set claimed_until = ${now + leaseMs}
      where (webhook_id, id) in (
        select webhook_id, id from (
          select webhook_id, id, claimed_until from ${dueDeliveries(webhookId, now)}
          limit coalesce((select ${windowOf(now)} from webhooks w
            left join webhook_health h on h.webhook_id = w.id where w.id = ${webhookId}), 0))
        where claimed_until <= ${now} limit ${count})
      returning webhook_id as webhookId, id, claimed_until as claimedUntil, attempts, level,
        account_id as accountId,
        (select json_object('type', n.type, 'data', n.data, 'requestId', n.request_id,
            'wanted', exists (select 1 from webhook_connections wc
              where wc.connection_id = n.connection_id and wc.webhook_id = deliveries.webhook_id
                and wc.notification_types & n.type))
          from notifications n
          where n.event_id = deliveries.event_id and n.level = deliveries.level) as notification`,
    ),
  ] as const;

/**
 * A webhook's due deliveries, claimed or not, accidents first. With every priority named SQLite reads them off the
 * index in this order, and seeks past those that are not due yet.
 */
export const dueDeliveries = (webhookId: SQL | string, now: number): SQL => sql`
  deliveries indexed by deliveries_due
  where webhook_id = ${webhookId} and status = 'pending' and priority in (0, 1, 2, 3) and next_attempt_at <= ${now}
  order by priority, next_attempt_at`;

/** SQL for the calls that `w`, with the health `h`, may have in flight. */
const windowOf = (now: number): SQL => sql`
  case when h.failures >= ${circuitAfter} then iif(h.open_until > ${now}, 0, 1)
    else min(coalesce(h.window, ${defaultCeiling}), ${defaultCeiling}) end`;

type WebhookRow = Omit<ClaimedWebhook, 'headers'> & { headers: string };

type ClaimedRow = Omit<Claimed, 'type' | 'data' | 'requestId' | 'wanted'> & { notification: string | null };

/** Puts the two results of `claimStatements` together. The webhook is undefined if it has been deleted. */
export function readClaim([webhook]: WebhookRow[], rows: ClaimedRow[]) {
  return {
    webhook: webhook && ({ ...webhook, headers: JSON.parse(webhook.headers) } as ClaimedWebhook),
    claimed: rows.map(({ notification, ...row }): Claimed => {
      const { wanted, ...loaded } = notification
        ? JSON.parse(notification)
        : { type: 0, data: '{}', requestId: null, wanted: 0 };
      return { ...row, ...loaded, wanted: wanted === 1 };
    }),
  };
}
