import { type SQL, sql } from 'drizzle-orm';
import { config } from '../platform/config.ts';
import { seal } from '../platform/crypto.ts';
import { change, refuseUnless } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { send } from '../platform/queue.ts';
import { noteOn, ownPull, wrong } from './connect.ts';

/**
 * Stops a connection from being pulled. What a run has begun to write lands, and then nothing more does.
 *
 * @throws Refusal: invalid, when it is no connection of the account that pulls
 */
export const pausePull = (env: Env, caller: Caller, id: string): Promise<void> =>
  changePull(
    env,
    caller,
    id,
    'paused',
    sql`paused_at = coalesce(paused_at, ${Date.now()}), due_at = null, claim = null`,
  );

/** Has a connection pulled again, from where it stopped. @throws Refusal: invalid, as above */
export const resumePull = (env: Env, caller: Caller, id: string): Promise<void> =>
  changePull(
    env,
    caller,
    id,
    'resumed',
    sql`paused_at = null, due_at = iif(refused_at is null, ${Date.now()}, null), claimed_until = 0`,
  );

/**
 * Has a connection pulled now, all feeds of it, whatever they wait for; also one whose credential was refused, which may
 * be good again.
 *
 * @throws Refusal: invalid, as above, or when it is paused
 */
export async function pullNow(env: Env, caller: Caller, id: string): Promise<void> {
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      sql`exists (select 1 from pulls where ${ownPull(caller, id)} and paused_at is null)`,
      'no pull',
    ),
    change(
      db,
      sql`update pulls set due_at = ${Date.now()}, refused_at = null,
        feeds = (select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt')))
          from json_each(feeds))
      where ${ownPull(caller, id)}`,
    ),
  ]);
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

async function changePull(
  env: Env,
  caller: Caller,
  id: string,
  action: 'paused' | 'resumed',
  changes: SQL,
): Promise<void> {
  await asCaller(env, caller, (db) => [
    refuseUnless(db, sql`exists (select 1 from pulls where ${ownPull(caller, id)})`, 'no pull'),
    noteOn(db, caller, id, [action]),
    change(db, sql`update pulls set ${changes} where ${ownPull(caller, id)}`),
  ]);
  if (action === 'resumed') await send(env.DELIVERIES, [{ pull: [id] }]);
}

/**
 * Keeps the secret with which the provider signs its webhook's calls, sealed. Without one, none of its calls counts.
 *
 * @throws Refusal: invalid, for a secret that cannot be one, or when it is no connection that pulls
 */
export async function setWebhookSecret(env: Env, caller: Caller, id: string, text: string): Promise<void> {
  const secret = text.trim();
  if (!/^[\x21-\x7e]{8,500}$/.test(secret)) throw wrong('secret', 'must be one word of 8 to 500 characters');
  const sealed = await seal(config(env).headerKeys, id, { secret });
  await asCaller(env, caller, (db) => [
    refuseUnless(db, sql`exists (select 1 from pulls where ${ownPull(caller, id)})`, 'no pull'),
    noteOn(db, caller, id, ['webhook secret']),
    change(db, sql`update pulls set webhook_secret = ${JSON.stringify(sealed)} where ${ownPull(caller, id)}`),
  ]);
}
