import { sql } from 'drizzle-orm';
import { change } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { webhooks } from '../platform/db/tables.ts';
import { invalid } from '../platform/errors.ts';
import { send } from '../platform/queue.ts';
import { untilNoCallStarts } from './deliveries/cancel.ts';
import { wakeOf } from './deliveries/queue.ts';
import { allowProbe } from './deliveries/replay.ts';
import { findWebhook, noteWebhook, ownWebhook, type StoredWebhook } from './stored.ts';

/**
 * Pauses or resumes a webhook. While it is paused its deliveries wait, up to five days; no call can start any more once
 * this returns, after some seconds at most. Then they are sent, accidents first, even if its receiver's circuit is open.
 * Doing so twice changes nothing.
 *
 * @throws Refusal: invalid, for an unknown id
 */
export async function setPaused(
  env: Env,
  caller: Caller,
  id: string,
  paused: boolean,
): Promise<StoredWebhook> {
  const now = Date.now();
  const changes = sql`paused_at is ${paused ? sql`null` : sql`not null`}`;
  const changed = sql`(select id from webhooks where ${ownWebhook(caller, id)} and ${changes})`;
  await asCaller(env, caller, (db) => [
    noteWebhook(db, caller, id, 'changed', [paused ? 'paused' : 'resumed'], changes),
    paused ? change(db)`select 0` : allowProbe(db, changed, now),
    change(db)`update webhooks set paused_at = ${paused ? now : null} where id = ${changed}`,
  ]);
  const webhook = await findWebhook(env, caller, id);
  if (!webhook) throw invalid('Invalid webhook id');
  if (paused) await untilNoCallStarts(env, [id]);
  else await send(env.DELIVERIES, wakeOf(caller.accountId, [id]));
  return webhook;
}

/**
 * Limits the calls to the receiver of one of the account's webhooks; null for the service's own limit. A missing one
 * stays unchanged, and saving the webhook changes none.
 *
 * @throws Refusal: invalid, for an unknown id
 */
export async function setReceiverLimits(
  env: Env,
  caller: Caller,
  id: string,
  limits: { maxInFlight?: number | null | undefined; maxPerSecond?: number | null | undefined },
): Promise<void> {
  const [changed] = await asCaller(env, caller, (db) => [
    db
      .update(webhooks)
      .set({ id, ...limits })
      .where(ownWebhook(caller, id))
      .returning({ id: webhooks.id }),
    noteWebhook(db, caller, id, 'changed', Object.keys(limits)),
  ]);
  if (changed.length === 0) throw invalid('Unknown webhook');
}
