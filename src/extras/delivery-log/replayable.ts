import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../core/platform/config.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { afterAllIds, firstIdAt } from '../../core/platform/db/ids.ts';
import { invalidField } from '../../core/platform/errors.ts';
import { giveUpAfterMs } from '../../core/webhooks/deliveries/policy.ts';
import { notificationOf, typeOf } from '../../core/webhooks/notifications/of-delivery.ts';
import { ownWebhook } from '../../core/webhooks/stored.ts';

/** Missed deliveries, or delivered ones too, of a time span and `after` one. */
export type ReplaySelection = {
  since?: number | undefined;
  until?: number | undefined;
  includeDelivered?: boolean | undefined;
  after?: string | undefined;
};

/** So long before the end of retention nothing is replayed, or it might be deleted first. */
const marginMs = 2 * giveUpAfterMs;

/** The age up to which a delivery can be replayed, in milliseconds. */
export const replayableMs = (env: Env): number => Math.max(0, config(env).retentionMs - marginMs);

/** No delivery has the first id of a time, so ranges can exclude their ends. */
export const oldestReplayable = (env: Env): string => firstIdAt(Date.now() - replayableMs(env));

/** The range of a selection; what is not after `oldest` is too old. @throws Refusal: invalid */
export function rangeOf(
  env: Env,
  caller: Caller,
  webhookId: string,
  { since = 0, until, includeDelivered = false, after = '' }: ReplaySelection,
) {
  if (until !== undefined && since >= until) throw invalidField('since', 'must be before until');
  const isIn = (from: string, to: string) => sql`
    webhook_id = ${ownWebhookId(caller, webhookId)} and id > ${from} and id < ${to}`;
  return {
    from: later(firstIdAt(since), after),
    to: until === undefined ? afterAllIds : firstIdAt(until),
    oldest: oldestReplayable(env),
    candidates: (from: string, to: string, limit: number): SQL =>
      includeDelivered ? finished(isIn(from, to), limit) : missed(isIn(from, to), limit),
  };
}

export const later = (a: string, b: string): string => (a > b ? a : b);
export const earlier = (a: string, b: string): string => (a < b ? a : b);

const columns = sql`webhook_id, id, event_id, level, status`;

/** SQL for the first deliveries, by id. Those that are pending cannot be replayed after all. */
const finished = (isIn: SQL, limit: number): SQL =>
  sql`(select ${columns} from deliveries where ${isIn} order by id limit ${limit})`;

/** SQL for the first missed deliveries, read from indexes: `limit` rows of a status. */
const missed = (isIn: SQL, limit: number): SQL => sql`(
  select * from (select ${columns} from deliveries indexed by deliveries_failed
    where status = 'failed' and ${isIn} order by id limit ${limit})
  union all
  select * from (select ${columns} from deliveries indexed by deliveries_cancelled
    where status = 'cancelled' and ${isIn} order by id limit ${limit})
  order by id limit ${limit})`;

/** SQL for the id of a webhook, null if it is not the caller's. */
export const ownWebhookId = (caller: Caller, id: string): SQL =>
  sql`(select id from webhooks where ${ownWebhook(caller, id)})`;

/** SQL for whether `d` can be replayed: it is finished, and subscribed to. */
export const isReplayable: SQL = sql`(d.status <> 'pending' and exists (
  select 1 from ${notificationOf()} n
  cross join webhook_connections wc on wc.connection_id = n.connection_id
  where wc.webhook_id = d.webhook_id and wc.notification_types & ${typeOf()}))`;
