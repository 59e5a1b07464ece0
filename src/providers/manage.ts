import { type SQL, sql } from 'drizzle-orm';
import { config } from '../platform/config.ts';
import { seal } from '../platform/crypto.ts';
import { change, refuseUnless } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { send } from '../platform/queue.ts';
import { noteOn, ownPull, unlessWithdrawn, wrong } from './connect.ts';

/**
 * Pauses a connection. A write that a run has begun still completes.
 *
 * @throws Refusal: invalid, when it is not a pulling connection of the account
 */
export const pausePull = (env: Env, caller: Caller, id: string): Promise<void> =>
  changePull(env, caller, id, {
    noted: 'paused',
    set: sql`paused_at = coalesce(paused_at, ${Date.now()}), due_at = null, claim = null`,
  });

/** Resumes a connection where it stopped. @throws Refusal: invalid, as above */
export async function resumePull(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    noted: 'resumed',
    set: sql`paused_at = null, due_at = iif(refused_at is null, ${Date.now()}, null), claimed_until = 0`,
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

/**
 * Pulls all feeds of a connection now, ignoring any wait, even if its credential was refused, since it may be valid
 * again.
 *
 * @throws Refusal: invalid, as above, or when it is paused
 */
export async function pullNow(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    only: sql`paused_at is null`,
    set: sql`due_at = ${Date.now()}, refused_at = null,
      feeds = (select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt')))
        from json_each(feeds))`,
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

/**
 * Stores the encrypted secret with which the provider signs its webhook's calls. Without one, all of them are ignored.
 *
 * @throws Refusal: invalid, for an invalid secret, or when it is not a pulling connection
 */
export async function setWebhookSecret(env: Env, caller: Caller, id: string, text: string): Promise<void> {
  const secret = text.trim();
  if (!/^[\x21-\x7e]{8,500}$/.test(secret)) throw wrong('secret', 'must be one word of 8 to 500 characters');
  const sealed = JSON.stringify(await seal(config(env).headerKeys, id, { secret }));
  await changePull(env, caller, id, { noted: 'webhook secret', set: sql`webhook_secret = ${sealed}` });
}

/**
 * Changes the pull of a connection that passes `only` and whose consent was not withdrawn, and audits that `noted`
 * changed.
 */
async function changePull(
  env: Env,
  caller: Caller,
  id: string,
  { set, noted, only = sql`true` }: { set: SQL; noted?: string; only?: SQL },
): Promise<void> {
  const own = ownPull(caller, id);
  await asCaller(env, caller, (db) => [
    refuseUnless(db, sql`exists (select 1 from pulls where ${own} and ${only})`, 'no pull'),
    unlessWithdrawn(db, id),
    ...(noted ? [noteOn(db, caller, id, [noted])] : []),
    change(db)`update pulls set ${set} where ${own}`,
  ]);
}
