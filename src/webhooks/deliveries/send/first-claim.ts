import { type SQL, sql } from 'drizzle-orm';
import { type Database, read } from '../../../platform/db/database.ts';
import { firstIdAtSql } from '../../../platform/db/id-sql.ts';
import { firstIdAt } from '../../../platform/db/ids.ts';
import { rowsPerChunk } from '../../../platform/jobs/chunks.ts';
import { eventPayload, type NewNotification, type NotificationSource } from '../../notifications/insert.ts';
import { allWebhooks, dueDeliveries } from '../due.ts';
import { firstWindow, leaseMs } from '../policy.ts';
import type { DeliveryMessage } from '../queue.ts';
import { windowOf } from '../receiver/window.ts';
import { asClaimed, type Claim, type ClaimedRow, type ClaimedWebhook, webhookColumns } from './claim.ts';
import { firstCallsUntil } from './in-flight.ts';

/** Work that a call may begin itself with its claim; the queue carries it without. */
export type NewWork = DeliveryMessage & { claim?: Claim };

/** A webhook with more recent deliveries gets no first claim. So many webhooks are checked. */
const maxRecent = 100;
const maxLookedAt = 10;

/** D1 must run the transaction this soon, or the sweep might miss a lost claim. */
const claimWithinMs = 5_000;

/** SQL for the webhooks that the creating call works for: the first `most` that are idle and healthy. */
export const readyWebhooks = (webhooks: SQL, now: number, most: number): SQL => sql`
  select i.webhook_id from (select webhook_id from ${webhooks} order by webhook_id limit ${maxLookedAt}) i
  join webhooks w on w.id = i.webhook_id and w.stopped_at is null
    and w.max_per_second is null and w.max_in_flight is null
  left join webhook_health h on h.webhook_id = w.id
  where coalesce(h.failures, 0) = 0 and ${windowOf(now)} >= ${firstWindow}
    and unixepoch('subsec') * 1000 < ${now + claimWithinMs}
    and not exists (select 1 from ${dueDeliveries(sql`i.webhook_id`, now)} limit 1)
    and not exists (select 1 from deliveries
      where webhook_id = i.webhook_id and id >= ${firstIdAt(now - leaseMs)} limit 1 offset ${maxRecent})
    and ${firstCallsUntil(sql`i.webhook_id`, now - leaseMs, maxRecent)} <= ${now}
  order by i.webhook_id limit ${most}`;

/** SQL for when a new delivery of `n` to `w` is due, and until when claimed, if that is in `claims`. */
export const dueAndClaimed = (now: number): SQL => {
  const isClaimed = sql`(n.key < ${firstWindow} and w.webhook_id in claims)`;
  return sql`iif(${isClaimed}, null, ${now}), iif(${isClaimed}, ${now + leaseMs}, 0)`;
};

/** What first claims have taken of the `unseen` notifications, which are the first of `all`. */
export const selectFirstClaims = (
  db: Database,
  { now, requestId }: NotificationSource,
  webhooks: SQL,
  unseen: SQL,
  all: NewNotification[],
) => {
  const payload = sql`(
    select ${eventPayload} || '' from json_each(${JSON.stringify(all.slice(0, firstWindow))}) n
    cross join vehicles v on v.id = n.value->>'vehicleId' where n.value->>'eventId' = d.event_id)`;
  const claimed = sql`d.id >= ${firstIdAt(now)} and d.claimed_until = ${now + leaseMs}`;
  return read<FirstClaimed>(db)`
    select d.webhook_id as webhookId, d.id, d.claimed_until as claimedUntil, d.attempts, d.level, 1 as first,
      d.event_id as eventId, ${webhookColumns(now)},
      json_object('data', ${payload}, 'requestId', ${requestId}, 'wanted', 1) as notification
    from (select webhook_id from ${webhooks} i
      where exists (select 1 from deliveries d where d.webhook_id = i.webhook_id and ${claimed} limit 1)
      order by webhook_id limit ${maxLookedAt}) c
    join webhooks w on w.id = c.webhook_id left join webhook_health h on h.webhook_id = w.id
    cross join deliveries d on d.webhook_id = c.webhook_id and ${claimed}
    where (d.event_id, d.level) in (select n.value->>'eventId', n.value->>'level' from (${unseen}) n)`;
};
type FirstClaimed = ClaimedRow & Omit<ClaimedWebhook, 'more'>;

/** What a call has claimed, by webhook; more is due if its `notifications` are more. */
export const firstClaims = (all: FirstClaimed[], notifications: number, now: number): Map<string, Claim> =>
  new Map(
    [...Map.groupBy(all, ({ webhookId }) => webhookId)].flatMap(([id, rows]) => {
      const webhook = rows[0] && { ...rows[0], more: Number(notifications > rows.length) };
      return [[id, { webhook, claimed: rows.map(asClaimed), now }]];
    }),
  );

/** Makes first claims due which were not recorded while they held, and that no sweep has found. */
export const listAbandoned = (now: number): SQL => sql`
  update deliveries set next_attempt_at = claimed_until - ${leaseMs}, claimed_until = 0
  where (webhook_id, id) in (
    with ${allWebhooks}
    select d.webhook_id, d.id from hooks
    cross join deliveries d on d.webhook_id = hooks.id and d.id < ${firstIdAt(now - leaseMs)}
      and d.id >= coalesce((select ${firstIdAtSql(sql`looked_to`)} from sweeps), '')
    where d.status = 'pending' and d.next_attempt_at is null limit ${rowsPerChunk})`;
