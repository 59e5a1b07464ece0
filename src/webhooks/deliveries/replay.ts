import { type SQL, sql } from 'drizzle-orm';
import { note } from '../../accounts/audit/note.ts';
import { change, type Database, jsonList, statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { invalid } from '../../platform/errors.ts';
import { send } from '../../platform/queue.ts';
import { webhookToNote } from '../to-note.ts';
import { webhookIsPaused } from './policy.ts';
import { findDelivery } from './queries.ts';
import { type DeliveryKey, wakeOf } from './queue.ts';
import { candidates, idRanges, isReplayable, ownWebhook, type ReplaySelection } from './replayable.ts';

/** What a call has replayed; if there are more, `next` is the delivery to continue `after`. */
export type Replayed = { replayed: number; more: boolean; next?: string };

/** How many deliveries a call checks. */
export const maxReplayedPerCall = 5000;

/** How many a transaction checks, so that it does not block D1 for long. */
const perChunk = 1000;

/**
 * Replays finished deliveries of one of the account's webhooks, oldest first. Each restarts its schedule under the same
 * Delivery-Id, keeping its priority and earlier attempts, and the circuit lets a probe through. Skips deliveries too
 * close to the end of retention, and those that the webhook no longer subscribes to. If this fails midway, the sweep
 * wakes what was changed.
 *
 * @throws Refusal: invalid, for an empty time span; unauthenticated, forbidden, unavailable
 */
export async function replay(
  env: Env,
  caller: Caller,
  webhookId: string,
  selection: ReplaySelection,
): Promise<Replayed> {
  const whose = ownWebhook(caller, webhookId);
  const now = Date.now();
  let { ids } = idRanges(env, selection, now);
  let replayed = 0;
  let more = true;
  for (let looked = 0; more && looked < maxReplayedPerCall; looked += perChunk) {
    const chunk = candidates(whose, ids, perChunk);
    const [[seen], { meta }] = await asCaller(env, caller, (db) => [
      statement<{ count: number; last: string | null }>(db)`
        select count(*) as count, max(id) as last from (${chunk})`,
      startAgain(db, now, sql`select webhook_id, id from (${chunk}) d where ${isReplayable}`),
      replayed > 0 ? statement(db)`select 0` : noteReplay(db, caller, webhookId),
      looked > 0 ? statement(db)`select 0` : allowProbe(db, whose, now),
    ]);
    replayed += meta.changes;
    more = seen?.count === perChunk;
    ids = { ...ids, from: seen?.last ?? ids.from };
  }
  await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
  return { replayed, more, ...(more && { next: ids.from }) };
}

/**
 * Replays these deliveries of one of the account's webhooks, skipping those that cannot be. Returns how many it sends.
 *
 * @throws Refusal: unauthenticated, forbidden, unavailable
 */
export async function replaySome(
  env: Env,
  caller: Caller,
  webhookId: string,
  ids: string[],
): Promise<number> {
  const whose = ownWebhook(caller, webhookId);
  const now = Date.now();
  const { from } = idRanges(env, {}, now).ids;
  const [{ meta }] = await asCaller(env, caller, (db) => [
    startAgain(
      db,
      now,
      sql`select webhook_id, id from deliveries d
        where webhook_id = ${whose} and id in ${jsonList(ids)} and id > ${from} and ${isReplayable}`,
    ),
    noteReplay(db, caller, webhookId),
    allowProbe(db, whose, now),
  ]);
  if (meta.changes > 0) await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
  return meta.changes;
}

/**
 * Replays one finished delivery of the account.
 *
 * @throws Refusal: invalid, when it cannot be replayed; unauthenticated, forbidden, unavailable
 */
export async function replayOne(env: Env, caller: Caller, { webhookId, id }: DeliveryKey): Promise<Replayed> {
  const replayed = await replaySome(env, caller, webhookId, [id]);
  if (replayed > 0) return { replayed, more: false };
  const found = await findDelivery(env, caller, { webhookId, id });
  if (found?.status === 'pending') throw invalid('This delivery is pending, send it now instead');
  throw invalid(
    id < idRanges(env, {}, Date.now()).ids.from
      ? 'This delivery is too old to be replayed'
      : 'The webhook does not subscribe to this notification any more',
  );
}

/**
 * Makes a delivery that waits for a retry due now; the circuit lets a probe through. It keeps its place in its
 * schedule. A level of an accident still waits for the previous one.
 *
 * @throws Refusal: invalid, when it is finished or its webhook is paused; unauthenticated, forbidden, unavailable
 */
export async function sendNow(env: Env, caller: Caller, { webhookId, id }: DeliveryKey): Promise<void> {
  const whose = ownWebhook(caller, webhookId);
  const now = Date.now();
  const [[pending]] = await asCaller(env, caller, (db) => [
    statement<{ isPaused: number }>(db)`
      select w.paused_at is not null as isPaused from deliveries d cross join webhooks w on w.id = d.webhook_id
      where d.webhook_id = ${whose} and d.id = ${id} and d.status = 'pending'`,
    statement(db)`
      update deliveries set next_attempt_at = ${now}
      where webhook_id = ${whose} and id = ${id} and status = 'pending' and attempts > 0
        and next_attempt_at > ${now} and claimed_until <= ${now}`,
    allowProbe(
      db,
      sql`(select webhook_id from deliveries
        where webhook_id = ${whose} and id = ${id} and status = 'pending')`,
      now,
    ),
  ]);
  if (!pending) throw invalid('This delivery has ended, replay it instead');
  if (pending.isPaused) throw invalid(webhookIsPaused);
  await send(env.DELIVERIES, wakeOf(caller.accountId, [webhookId]));
}

/** Audits a replay, right after the statement that restarted deliveries, if it changed any. */
const noteReplay = (db: Database, caller: Caller, webhookId: string) =>
  note(db, caller, {
    action: 'changed',
    subject: 'webhook',
    of: sql`${webhookToNote(caller, webhookId)} and changes() > 0`,
    fields: ['replayed'],
  });

/** Makes deliveries pending and due. */
const startAgain = (db: Database, now: number, keys: SQL) =>
  change(db)`
    update deliveries set status = 'pending', attempts = 0, next_attempt_at = ${now}, finished_at = null
    where (webhook_id, id) in (${keys})`;

/** Lets a call through an open circuit at once. */
export const allowProbe = (db: Database, webhook: SQL, now: number) =>
  statement(db)`update webhook_health set open_until = ${now} where webhook_id = ${webhook}`;
