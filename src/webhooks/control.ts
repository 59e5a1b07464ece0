import { sql } from 'drizzle-orm';
import { note } from '../accounts/audit/note.ts';
import { change } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { webhooks } from '../platform/db/tables.ts';
import { invalid } from '../platform/errors.ts';
import { send } from '../platform/queue.ts';
import { untilNoCallStarts } from './deliveries/cancel.ts';
import { wakeOf } from './deliveries/queue.ts';
import { allowProbe } from './deliveries/replay.ts';
import { findWebhook, ownWebhook, type StoredWebhook, webhookToNote } from './stored.ts';

/**
 * Pauses a webhook: its deliveries wait, up to five days. Returns once no call can start any more, after some seconds
 * at most. Pausing twice changes nothing.
 *
 * @throws Refusal: invalid, for an unknown id
 */
export async function pauseWebhook(env: Env, caller: Caller, id: string): Promise<StoredWebhook> {
  const paused = await setPaused(env, caller, id, true);
  await untilNoCallStarts(env, [id]);
  return paused;
}

/**
 * Resumes a paused webhook: its deliveries are sent, accidents first, even if its receiver's circuit is open.
 *
 * @throws Refusal: invalid, for an unknown id
 */
export async function resumeWebhook(env: Env, caller: Caller, id: string): Promise<StoredWebhook> {
  const resumed = await setPaused(env, caller, id, false);
  await send(env.DELIVERIES, wakeOf(caller.accountId, [id]));
  return resumed;
}

async function setPaused(env: Env, caller: Caller, id: string, paused: boolean): Promise<StoredWebhook> {
  const now = Date.now();
  const changing = sql`${webhookToNote(caller, id)} and paused_at is ${paused ? sql`null` : sql`not null`}`;
  const changed = sql`(select id from (${changing}))`;
  await asCaller(env, caller, (db) => [
    note(db, caller, {
      action: 'changed',
      subject: 'webhook',
      of: changing,
      fields: [paused ? 'paused' : 'resumed'],
    }),
    paused ? change(db)`select 0` : allowProbe(db, changed, now),
    change(db)`update webhooks set paused_at = ${paused ? now : null} where id = ${changed}`,
  ]);
  const webhook = await findWebhook(env, caller, id);
  if (!webhook) throw invalid('Invalid webhook id');
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
    note(db, caller, {
      action: 'changed',
      subject: 'webhook',
      of: webhookToNote(caller, id),
      fields: Object.keys(limits),
    }),
  ]);
  if (changed.length === 0) throw invalid('Unknown webhook');
}
