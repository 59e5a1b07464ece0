import { and, count, eq, exists, isNull, sql } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { refuseUnless } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { deliveries, webhooks } from '../../core/platform/db/schema/webhooks.ts';
import { invalid } from '../../core/platform/errors.ts';
import { send } from '../../core/platform/queue.ts';
import { restart, retryNow } from '../../core/webhooks/deliveries/due.ts';
import type { DeliveryKey } from '../../core/webhooks/deliveries/policy.ts';
import { wakeOf } from '../../core/webhooks/deliveries/queue.ts';
import { allowProbe } from '../../core/webhooks/deliveries/receiver/store.ts';
import { mustBeOurs } from '../../core/webhooks/stored.ts';
import {
  earlier,
  isReplayable,
  later,
  oldestReplayable,
  ownWebhookId,
  type ReplaySelection,
  rangeOf,
} from './replayable.ts';
import { maxReplayedPerCall, webhookIsPaused } from './schema.ts';

/** What a call has replayed; if there are more, `next` is the delivery to continue `after`. */
export type Replayed = { replayed: number; more: boolean; next?: string };

/** How many deliveries a replay would send; with `more` others. `tooOld` are excluded by age. */
export type ReplayCount = { count: number; more: boolean; tooOld: number };

/** How many a transaction replays, so that it does not block D1 for long. */
const replayedPerChunk = 1000;

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
      .from(sql`${recent} d`),
    old: db.select({ count: sql<number>`coalesce(sum(status <> 'pending'), 0)` }).from(tooOld),
  }));
  return {
    count: found[0]?.count ?? 0,
    more: found[0]?.looked === maxReplayedPerCall,
    tooOld: old[0]?.count ?? 0,
  };
}

/**
 * Replays finished deliveries, oldest first: each restarts its schedule under the same Delivery-Id.
 * Skips what is too old or no longer subscribed to. A failure ends it, once something is replayed.
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
    const done = await asCaller(env, caller, (db) => ({
      known: mustBeOurs(db, caller, webhookId),
      seen: db.select({ looked: count(), last: sql<string>`max(id)` }).from(chunk),
      changed: restart(db, sql`(select webhook_id, id from ${chunk} d where ${isReplayable})`, now),
      audited:
        replayed > 0
          ? undefined
          : audit(db, caller, 'changed', 'webhooks', sql`id = ${webhookId} and changes() > 0`, [
              'replayed',
            ]),
      probe: looked > 0 ? undefined : allowProbe(db, ownWebhookId(caller, webhookId), now),
    })).catch((error: unknown) => {
      if (replayed === 0) throw error;
    });
    if (!done) break; // the rest is for another call
    const { seen, changed } = done;
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
  if (id < oldestReplayable(env)) throw invalid('This delivery is too old to be replayed');
  const one = sql`(select * from deliveries
    where webhook_id = ${ownWebhookId(caller, webhookId)} and id = ${id}) d`;
  const now = Date.now();
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      sql`not exists (select 1 from ${one} where d.status = 'pending')`,
      'This delivery is pending, send it now instead',
    ),
    refuseUnless(
      db,
      sql`exists (select 1 from ${one} where ${isReplayable})`,
      'The webhook does not subscribe to this notification any more',
    ),
    restart(db, sql`(select webhook_id, id from ${one})`, now),
    audit(db, caller, 'changed', 'webhooks', webhookId, ['replayed']),
    allowProbe(db, ownWebhookId(caller, webhookId), now),
  ]);
  await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
  return { replayed: 1, more: false };
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
  const isActive = and(eq(webhooks.id, webhookId), isNull(webhooks.pausedAt));
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      exists(db.select({ id: deliveries.id }).from(deliveries).where(isPending)),
      'This delivery has ended, replay it instead',
    ),
    refuseUnless(
      db,
      exists(db.select({ id: webhooks.id }).from(webhooks).where(isActive)),
      webhookIsPaused,
    ),
    retryNow(db, isPending, now),
    allowProbe(db, sql`(select webhook_id from deliveries where ${isPending})`, now),
  ]);
  await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
}

/**
 * Sends the first delivery that waits now, in spite of failures before, and returns its key.
 *
 * @throws Refusal: invalid, if none is waiting; and as `sendNow`
 */
export async function tryNow(env: Env, caller: Caller, webhookId: string): Promise<DeliveryKey> {
  const [first] = await asCaller(env, caller, (db) =>
    db
      .select({ id: sql<string>`id` })
      .from(sql`${deliveries} indexed by deliveries_due`)
      .where(
        and(
          eq(deliveries.webhookId, ownWebhookId(caller, webhookId)),
          sql`status = 'pending' and priority in (0, 1, 2, 3)`,
        ),
      )
      .orderBy(deliveries.priority, deliveries.nextAttemptAt)
      .limit(1),
  );
  if (!first) throw invalid('Nothing is waiting for this webhook');
  const key = { webhookId, id: first.id };
  await sendNow(env, caller, key);
  return key;
}
