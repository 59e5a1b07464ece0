import { and, eq, sql } from 'drizzle-orm';
import {
  type Account,
  type AccountChange,
  changeAccount,
  operatorIn,
  suspendToDelete,
} from '../../core/accounts/accounts.ts';
import { audit } from '../../core/accounts/audit/write.ts';
import { forgetTokens } from '../../core/accounts/tokens/known.ts';
import { revokeKeysOf } from '../../core/accounts/tokens/service.ts';
import { recordChange } from '../../core/fleet/record-changes.ts';
import { deleteDriverRow, takeConnection } from '../../core/fleet/remove.ts';
import { type Database, excluded } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { untilChecksLapse } from '../../core/platform/db/reads.ts';
import { drivers, erasedDrivers } from '../../core/platform/db/schema/fleet.ts';
import { deletions } from '../../core/platform/db/schema/jobs.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { cancelPending, removeFanOuts } from '../../core/webhooks/deliveries/cancel.ts';
import { untilNoCallStarts } from '../../core/webhooks/deliveries/send/in-flight.ts';
import { resumeWebhooks, stopWebhooks, unsubscribeAll } from '../../core/webhooks/remove.ts';
import { declared } from '../../extras.ts';
import { type Deletion, selectDeletions } from './list.ts';
import { stepNames } from './run.ts';

export const graceDays = 30;

/**
 * Suspends an account and schedules its deletion in 30 days, or with `now` at once. Its credentials
 * and webhooks stop, and its pending deliveries are cancelled.
 * @throws Refusal: invalid, when the account does not exist or has another name
 */
export async function deleteAccount(
  env: Env,
  id: string,
  { name, now }: { name: string; now: boolean },
): Promise<Deletion | undefined> {
  const at = Date.now();
  const dueAt = now ? at : at + graceDays * dayMs;
  const statements = (db: Database) => ({
    ...stopWebhooks(db, id, at),
    scheduled: db
      .insert(deletions)
      .values({ id, kind: 'account', accountId: id, requestedAt: at, dueAt })
      .onConflictDoUpdate({
        target: deletions.id,
        set: { dueAt: sql`min(${deletions.dueAt}, ${excluded(deletions.dueAt)})` },
      }),
    deletion: selectDeletions(db, eq(deletions.id, id)),
    suspended: suspendToDelete(db, id, name),
  });
  const done = await asCaller(env, operatorIn(id), statements, { evenIfDeleted: true });
  const expired = untilChecksLapse(env);
  const ids = done.webhooks.map((webhook) => webhook.id);
  await cancelPending(env, ids);
  await expired;
  await untilNoCallStarts(env, ids);
  return done.deletion[0];
}

/** Suspends an account: its deliveries wait, and nothing else is done for it. @throws Refusal: invalid */
export const suspendAccount = (env: Env, id: string, change: AccountChange): Promise<Account> =>
  changeAccount(env, id, { ...change, status: 'suspended' }, (db) =>
    stopWebhooks(db, id, Date.now()),
  );

/** Activates an account and cancels its deletion, unless that has begun. @throws Refusal: invalid */
export const activateAccount = (env: Env, id: string, change: AccountChange): Promise<Account> =>
  changeAccount(env, id, { ...change, status: 'active' }, (db) => [
    db.delete(deletions).where(eq(deletions.id, id)),
    resumeWebhooks(db, id),
  ]);

/** Removes a connection from its account and begins to delete it. @throws Refusal: invalid */
export async function deleteConnection(
  env: Env,
  caller: Caller,
  id: string,
  name: string,
): Promise<Deletion | undefined> {
  const { accountId } = caller;
  const at = Date.now();
  const statements = (db: Database) => ({
    ...revokeKeysOf(db, id, at),
    ...unsubscribeAll(db, id),
    fanOuts: removeFanOuts(db, id),
    change: recordChange(db, { accountId, connectionId: id, now: at }, 'deleted', 'connection', [
      id,
    ]),
    scheduled: db.insert(deletions).values({
      id,
      kind: 'connection',
      accountId,
      connectionId: id,
      requestedAt: at,
      dueAt: at,
      step: stepNames('connection')[0],
    }),
    deletion: selectDeletions(db, eq(deletions.id, id)),
    taken: takeConnection(db, caller, id, name),
    ofExtras: declared('deletion').map(({ connection }) => connection?.first?.(db, id)),
  });
  const done = await asCaller(env, caller, statements, { connectionId: id });
  const hashes = done.keys.map(({ hash }) => hash);
  const webhooks = done.webhooks.map((webhook) => webhook.id);
  await forgetTokens(env, hashes);
  await untilNoCallStarts(env, webhooks);
  return done.deletion[0];
}

/** Deletes a driver's row and begins to erase the rest; undefined if nothing is left. */
export async function eraseDriver(
  env: Env,
  caller: Caller,
  id: string,
): Promise<Deletion | undefined> {
  const { accountId } = caller;
  const at = Date.now();
  const own = and(eq(drivers.id, id), eq(drivers.accountId, accountId));
  const found = await asCaller(env, caller, (db) => ({
    drivers: db.select({ connectionId: drivers.connectionId }).from(drivers).where(own),
    deletions: selectDeletions(db, eq(deletions.id, id)),
  }));
  const [driver] = found.drivers;
  if (!driver) return found.deletions[0];
  const source = { accountId, connectionId: driver.connectionId, now: at };
  const done = await asCaller(env, caller, (db) => ({
    audited: audit(db, caller, 'erased', 'drivers', id),
    erased: db.insert(erasedDrivers).select(
      db
        .select({
          id: drivers.id,
          accountId: drivers.accountId,
          connectionId: drivers.connectionId,
          erasedAt: sql<number>`${at}`.as('erased_at'),
        })
        .from(drivers)
        .where(own),
    ),
    scheduled: db.insert(deletions).select(
      db
        .select({
          id: drivers.id,
          kind: sql<'driver'>`'driver'`.as('kind'),
          accountId: drivers.accountId,
          connectionId: drivers.connectionId,
          requestedAt: sql<number>`${at}`.as('requested_at'),
          dueAt: sql<number>`${at}`.as('due_at'),
          step: sql<string>`${stepNames('driver')[0]}`.as('step'),
          cursor: sql<string>`''`.as('cursor'),
          email: sql<string | null>`lower(${drivers.email})`.as('email'),
          problem: sql<null>`null`.as('problem'),
        })
        .from(drivers)
        .where(own),
    ),
    change: recordChange(
      db,
      source,
      'deleted',
      'driver',
      db.select({ id: drivers.id }).from(drivers).where(own),
    ),
    driver: deleteDriverRow(db, accountId, id),
    deletions: selectDeletions(db, eq(deletions.id, id)),
  }));
  return done.deletions[0];
}
