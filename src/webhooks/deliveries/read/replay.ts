import { and, count, eq, gt, lte, type SQL, sql } from 'drizzle-orm';
import { audit } from '../../../accounts/audit/write.ts';
import { config } from '../../../platform/config.ts';
import { asCaller, type Caller } from '../../../platform/db/guard.ts';
import { afterAllIds, firstIdAt } from '../../../platform/db/ids.ts';
import { deliveries, webhooks } from '../../../platform/db/schema/webhooks.ts';
import { invalid, invalidField } from '../../../platform/errors.ts';
import { send } from '../../../platform/queue.ts';
import { notificationOf, typeOf } from '../../notifications/of-delivery.ts';
import { ownWebhook } from '../../stored.ts';
import { type DeliveryKey, giveUpAfterMs, maxReplayedPerCall, webhookIsPaused } from '../policy.ts';
import { wakeOf } from '../queue.ts';
import { allowProbe } from '../receiver/store.ts';
import { findDelivery } from './find.ts';

/** Missed deliveries, or delivered ones too, of a time span and `after` one; or one alone. */
export type ReplaySelection = {
  since?: number | undefined;
  until?: number | undefined;
  includeDelivered?: boolean | undefined;
  after?: string | undefined;
  id?: string;
};

/** What a call has replayed; if there are more, `next` is the delivery to continue `after`. */
export type Replayed = { replayed: number; more: boolean; next?: string };

/** How many deliveries a replay would send; with `more` others. `tooOld` are excluded by age. */
export type ReplayCount = { count: number; more: boolean; tooOld: number };

/** How many a transaction replays, so that it does not block D1 for long. */
const replayedPerChunk = 1000;

/** So long before the end of retention nothing is replayed, or it might be deleted first. */
const marginMs = 2 * giveUpAfterMs;

/** The age up to which a delivery can be replayed, in milliseconds. */
export const replayableMs = (env: Env): number => Math.max(0, config(env).retentionMs - marginMs);

/** Counts what a call of `replay` would send. @throws Refusal: as `replay` */
export async function countReplayable(
  env: Env,
  caller: Caller,
  webhookId: string,
  selection: ReplaySelection,
): Promise<ReplayCount> {
  const { from, to, oldest, candidates } = rangeOf(env, caller, webhookId, selection);
  const recent = candidates(later(from, oldest), to, maxReplayedPerCall);
  const tooOld = candidates(from, earlier(to, oldest), maxReplayedPerCall);
  const { found, old } = await asCaller(env, caller, (db) => ({
    found: db
      .select({ looked: count(), count: sql<number>`coalesce(sum(${isReplayable}), 0)` })
      .from(sql`(${recent}) d`),
    old: db
      .select({ count: sql<number>`coalesce(sum(status <> 'pending'), 0)` })
      .from(sql`(${tooOld})`),
  }));
  return {
    count: found[0]?.count ?? 0,
    more: found[0]?.looked === maxReplayedPerCall,
    tooOld: old[0]?.count ?? 0,
  };
}

/**
 * Replays finished deliveries, oldest first: each restarts its schedule under the same Delivery-Id.
 * Skips what is too old or no longer subscribed to. The sweep wakes what a failure leaves.
 * @throws Refusal: invalid, for an empty time span; unauthenticated, forbidden, unavailable
 */
export async function replay(
  env: Env,
  caller: Caller,
  webhookId: string,
  selection: ReplaySelection,
): Promise<Replayed> {
  const now = Date.now();
  const { from, to, oldest, candidates } = rangeOf(env, caller, webhookId, selection);
  let replayed = 0;
  let next: string | undefined = later(from, oldest);
  for (
    let looked = 0;
    looked < maxReplayedPerCall && next !== undefined;
    looked += replayedPerChunk
  ) {
    const chunk = candidates(next, to, replayedPerChunk);
    const { seen, changed } = await asCaller(env, caller, (db) => ({
      seen: db.select({ looked: count(), last: sql<string>`max(id)` }).from(sql`(${chunk})`),
      changed: db
        .update(deliveries)
        .set({ status: 'pending', attempts: 0, nextAttemptAt: now, finishedAt: null })
        .where(
          sql`(webhook_id, id) in (
            select webhook_id, id from (${chunk}) d where ${isReplayable})`,
        ),
      audited:
        replayed > 0
          ? undefined
          : audit(db, caller, 'changed', 'webhooks', sql`id = ${webhookId} and changes() > 0`, [
              'replayed',
            ]),
      probe: looked > 0 ? undefined : allowProbe(db, ownWebhookId(caller, webhookId), now),
    }));
    replayed += changed.meta.changes;
    next = seen[0]?.looked === replayedPerChunk ? seen[0].last : undefined;
  }
  await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
  return { replayed, more: next !== undefined, ...(next !== undefined && { next }) };
}

/** Replays one finished delivery. @throws Refusal: invalid, unauthenticated, forbidden, unavailable */
export async function replayOne(
  env: Env,
  caller: Caller,
  { webhookId, id }: DeliveryKey,
): Promise<Replayed> {
  const done = await replay(env, caller, webhookId, { id, includeDelivered: true });
  if (done.replayed > 0) return done;
  const found = await findDelivery(env, caller, { webhookId, id });
  if (found?.status === 'pending') throw invalid('This delivery is pending, send it now instead');
  throw invalid(
    id < oldestReplayable(env)
      ? 'This delivery is too old to be replayed'
      : 'The webhook does not subscribe to this notification any more',
  );
}

/**
 * Makes a delivery that waits for a retry due now, and lets a probe through its circuit.
 * @throws Refusal: invalid, when it is finished or its webhook paused; unauthenticated, forbidden, unavailable
 */
export async function sendNow(
  env: Env,
  caller: Caller,
  { webhookId, id }: DeliveryKey,
): Promise<void> {
  const now = Date.now();
  const isPending = and(
    eq(deliveries.webhookId, ownWebhookId(caller, webhookId)),
    eq(deliveries.id, id),
    eq(deliveries.status, 'pending'),
  );
  const { found } = await asCaller(env, caller, (db) => ({
    found: db
      .select({ pausedAt: webhooks.pausedAt })
      .from(deliveries)
      .leftJoin(webhooks, eq(webhooks.id, deliveries.webhookId))
      .where(isPending),
    due: db
      .update(deliveries)
      .set({ nextAttemptAt: now })
      .where(
        and(
          isPending,
          gt(deliveries.attempts, 0),
          gt(deliveries.nextAttemptAt, now),
          lte(deliveries.claimedUntil, now),
        ),
      ),
    probe: allowProbe(db, sql`(select webhook_id from deliveries where ${isPending})`, now),
  }));
  const [pending] = found;
  if (!pending) throw invalid('This delivery has ended, replay it instead');
  if (pending.pausedAt !== null) throw invalid(webhookIsPaused);
  await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
}

/**
 * Sends the first delivery that waits now, in spite of failures before, and returns its key.
 *
 * @throws Refusal: invalid, if none is waiting; and as `sendNow`
 */
export async function tryNow(env: Env, caller: Caller, webhookId: string): Promise<DeliveryKey> {
  // It names an index.
  const waiting = sql`
    select id from deliveries indexed by deliveries_due
    where webhook_id = ${ownWebhookId(caller, webhookId)} and status = 'pending'
      and priority in (0, 1, 2, 3)
    order by priority, next_attempt_at limit 1`;
  const [first] = await asCaller(env, caller, (db) => db.all<{ id: string }>(waiting));
  if (!first) throw invalid('Nothing is waiting for this webhook');
  const key = { webhookId, id: first.id };
  await sendNow(env, caller, key);
  return key;
}

/** No delivery has the first id of a time, so ranges can exclude their ends. */
const oldestReplayable = (env: Env): string => firstIdAt(Date.now() - replayableMs(env));

/** The range of a selection; what is not after `oldest` is too old. @throws Refusal: invalid */
function rangeOf(
  env: Env,
  caller: Caller,
  webhookId: string,
  { since = 0, until, includeDelivered = false, after = '', id }: ReplaySelection,
) {
  if (until !== undefined && since >= until) throw invalidField('since', 'must be before until');
  const isIn = (from: string, to: string) => sql`
    webhook_id = ${ownWebhookId(caller, webhookId)} and id > ${from} and id < ${to}
    ${id ? sql`and id = ${id}` : undefined}`;
  return {
    from: later(firstIdAt(since), after),
    to: until === undefined ? afterAllIds : firstIdAt(until),
    oldest: oldestReplayable(env),
    candidates: (from: string, to: string, limit: number): SQL =>
      includeDelivered ? finished(isIn(from, to), limit) : missed(isIn(from, to), limit),
  };
}

const later = (a: string, b: string): string => (a > b ? a : b);
const earlier = (a: string, b: string): string => (a < b ? a : b);

const columns = sql`select webhook_id, id, event_id, level, status`;

/** SQL for the first deliveries, by id. Those that are pending cannot be replayed after all. */
const finished = (isIn: SQL, limit: number): SQL =>
  sql`${columns} from deliveries where ${isIn} order by id limit ${limit}`;

/** SQL for the first missed deliveries, read from indexes: `limit` rows of a status. */
const missed = (isIn: SQL, limit: number): SQL => sql`
  select * from (${columns} from deliveries indexed by deliveries_failed
    where status = 'failed' and ${isIn} order by id limit ${limit})
  union all
  select * from (${columns} from deliveries indexed by deliveries_cancelled
    where status = 'cancelled' and ${isIn} order by id limit ${limit})
  order by id limit ${limit}`;

/** SQL for the id of a webhook, null if it is not the caller's. */
export const ownWebhookId = (caller: Caller, id: string): SQL =>
  sql`(select id from webhooks where ${ownWebhook(caller, id)})`;

/** SQL for whether `d` can be replayed: it is finished, and subscribed to. */
const isReplayable: SQL = sql`(d.status <> 'pending' and exists (
  select 1 from ${notificationOf()} n cross join webhook_connections wc on wc.connection_id = n.connection_id
  where wc.webhook_id = d.webhook_id and wc.notification_types & ${typeOf()}))`;
