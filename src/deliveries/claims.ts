import { sql } from 'drizzle-orm';
import { type Database, statement, transaction } from '../db/database.ts';
import type { Outcome } from './policy.ts';
import type { DeliveryKey } from './queue.ts';

/** How long a claim holds: well over the time in which an attempt can start and end. */
export const leaseMs = 30_000;

/** A claimed delivery with its notification and its webhook as they are now; no webhook: cancel it. */
export type Claimed = DeliveryKey & {
  claimedUntil: number;
  attempts: number;
  type: number;
  data: string;
  webhook: { url: string; httpVerb: string; headers: Record<string, string> } | null;
};

/**
 * Claims those of `keys` that are due and that nobody holds, and loads what is to be sent. A claim is what
 * makes repeated wake-ups harmless. The webhook is null when it is gone or no longer subscribed to the
 * notification's type and connection (spec 4.4).
 */
export async function claim(db: Database, keys: DeliveryKey[], now: number): Promise<Claimed[]> {
  const [rows] = await transaction(db, [
    statement<{
      webhookId: string;
      id: string;
      claimedUntil: number;
      attempts: number;
      notification: string | null;
      webhook: string | null;
    }>(
      db,
      sql`
      update deliveries set claimed_until = ${now + leaseMs}
      where (webhook_id, id) in (
          select value->>'webhookId', value->>'id' from json_each(${JSON.stringify(keys)}))
        and status = 'pending' and next_attempt_at <= ${now} and claimed_until <= ${now}
      returning webhook_id as webhookId, id, claimed_until as claimedUntil, attempts,
        (select json_object('type', n.type, 'data', n.data) from notifications n
          where n.event_id = deliveries.event_id and n.level = deliveries.level) as notification,
        (select json_object('url', w.url, 'httpVerb', w.http_verb, 'headers', json(w.headers))
          from notifications n
          join webhooks w on w.id = deliveries.webhook_id and w.notification_types & n.type
          join webhook_connections wc
            on wc.connection_id = n.connection_id and wc.webhook_id = deliveries.webhook_id
          where n.event_id = deliveries.event_id and n.level = deliveries.level) as webhook`,
    ),
  ]);
  return rows.map(({ notification, webhook, ...row }) => ({
    ...row,
    ...(notification ? JSON.parse(notification) : { type: 0, data: '{}' }),
    webhook: webhook && JSON.parse(webhook),
  }));
}

/** One line of a delivery's log. Times are milliseconds; nothing of the request is kept. */
export type LogEntry = { at: number; durationMs: number } & Outcome;

/** How a claimed delivery came out. Without `entry` no attempt was made. */
export type Recorded = {
  key: Claimed;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  nextAttemptAt?: number;
  entry?: LogEntry;
};

/** Records outcomes and lets the claims go, where they still hold: what another has claimed since is its. */
export async function record(db: Database, outcomes: Recorded[], now: number): Promise<void> {
  const rows = outcomes.map(({ key, status, nextAttemptAt, entry }) => ({
    w: key.webhookId,
    i: key.id,
    c: key.claimedUntil,
    s: status,
    n: nextAttemptAt,
    a: entry ? 1 : 0,
    e: entry,
  }));
  await transaction(db, [
    statement(
      db,
      sql`
      update deliveries set
        status = r.value->>'s',
        attempts = attempts + (r.value->>'a'),
        next_attempt_at = coalesce(r.value->>'n', next_attempt_at),
        claimed_until = 0,
        finished_at = case when r.value->>'s' <> 'pending' then ${now} end,
        log = case when r.value->>'a' then json_insert(log, '$[#]', json(r.value->>'e')) else log end
      from json_each(${JSON.stringify(rows)}) r
      where webhook_id = r.value->>'w' and deliveries.id = r.value->>'i'
        and status = 'pending' and claimed_until = r.value->>'c'`,
    ),
  ]);
}
