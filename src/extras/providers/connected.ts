import { and, eq, exists, isNull, not, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core';
import { audit } from '../../core/accounts/audit/write.ts';
import { seal } from '../../core/platform/crypto.ts';
import { type Database, refuseUnless, type Statement } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { invalidField } from '../../core/platform/errors.ts';
import { send } from '../../core/platform/queue.ts';
import { pulls } from './tables.ts';

/** Pauses a connection; a write that has begun completes. @throws Refusal: invalid, if it does not pull */
export const pausePull = (env: Env, caller: Caller, id: string): Promise<void> =>
  changePull(env, caller, id, {
    noted: 'paused',
    set: {
      pausedAt: sql`coalesce(${pulls.pausedAt}, ${Date.now()})`,
      dueAt: null,
      claim: null,
    },
  });

/** Resumes a connection where it stopped; nothing waits. @throws Refusal: invalid, as above */
export async function resumePull(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    noted: 'resumed',
    set: {
      pausedAt: null,
      dueAt: sql`iif(${isNull(pulls.refusedAt)}, ${Date.now()}, null)`,
      claim: null,
      claimedUntil: 0,
      feeds: feedsDue,
    },
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

/**
 * Pulls all feeds now, also with a credential that was refused, in a run of its own: one that goes on would save its
 * feeds as they were. @throws Refusal: invalid
 */
export async function pullNow(env: Env, caller: Caller, id: string): Promise<void> {
  await changePull(env, caller, id, {
    only: isNull(pulls.pausedAt),
    set: {
      dueAt: Date.now(),
      claim: null,
      claimedUntil: 0,
      refusedAt: null,
      feeds: feedsDue,
    },
  });
  await send(env.DELIVERIES, [{ pull: [id] }]);
}

/** Stores the secret with which the provider signs its webhook's calls. @throws Refusal: invalid */
export async function setWebhookSecret(
  env: Env,
  caller: Caller,
  id: string,
  text: string,
): Promise<void> {
  const secret = text.trim();
  if (!/^[\x21-\x7e]{8,500}$/.test(secret))
    throw invalidField('secret', 'must be one word of 8 to 500 characters');
  const webhookSecret = await seal(env, id, { secret });
  await changePull(env, caller, id, {
    noted: 'webhook secret',
    set: { webhookSecret },
  });
}

/** Changes a pull that passes `only` and has consent, and audits that. `also` may refuse it before. */
export async function changePull(
  env: Env,
  caller: Caller,
  id: string,
  {
    set,
    noted,
    only,
    also = () => [],
  }: {
    set: SQLiteUpdateSetSource<typeof pulls>;
    noted?: string;
    only?: SQL;
    also?: (db: Database) => Statement[];
  },
): Promise<void> {
  const own = and(eq(pulls.connectionId, id), eq(pulls.accountId, caller.accountId));
  await asCaller(env, caller, (db) => [
    refuseUnless(
      db,
      exists(db.select({ id: pulls.connectionId }).from(pulls).where(and(own, only))),
      'This connection does not pull from a provider, or is paused',
    ),
    unlessWithdrawn(db, id),
    ...also(db),
    noted ? audit(db, caller, 'changed', 'connections', id, [noted]) : undefined,
    db.update(pulls).set(set).where(own),
  ]);
}

/** SQL for the feeds as they are, and none waits: a person has mended the connection. */
export const feedsDue = sql`(select json_group_object(key, json(json_remove(value, '$.problem', '$.pulledAt')))
  from json_each(${pulls.feeds}))`;

/** SQL for whether the connection `id` was connected by a link whose consent was withdrawn. */
export const isWithdrawn = (id: SQLWrapper): SQL =>
  sql`exists (select 1 from connect_links where connection_id = ${id} and withdrawn_at is not null)`;

/** What the portal knows of the connection `id`. */
export const connectionSql = {
  isEnded: isWithdrawn,
  isRefused: (id: SQLWrapper): SQL =>
    sql`exists (select 1 from pulls where connection_id = ${id} and refused_at is not null)`,
  version: (id: SQLWrapper): SQL =>
    sql`(select json_array(paused_at, refused_at) from pulls where connection_id = ${id})`,
};

/** SQL for whether accidents of the connection `c` are expected: it is neither paused nor withdrawn. */
export const needsCover: SQL = sql`(not ${isWithdrawn(sql`c.id`)} and not exists (
  select 1 from pulls where connection_id = c.id and paused_at is not null))`;

/** The statement that refuses such a connection, so that the withdrawal holds. */
export const unlessWithdrawn = (db: Database, id: string) =>
  refuseUnless(
    db,
    not(isWithdrawn(sql`${id}`)),
    'The consent to this connection was withdrawn. Create another connect link, or add the provider with a credential of your own.',
  );
