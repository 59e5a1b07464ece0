import { sql } from 'drizzle-orm';
import { note } from '../../accounts/audit/note.ts';
import { leave, setFrozen, settle } from '../../accounts/home.ts';
import { operatorIn } from '../../accounts/owner.ts';
import { change, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { untilCachesExpire } from '../../platform/db/token-cache.ts';
import { nameOf } from '../../platform/homes/homes.ts';
import { noteMoved } from '../../platform/homes/moved.ts';
import { send, wakeOf } from '../../webhooks/deliveries/queue.ts';
import { pendingWebhooks } from '../../webhooks/deliveries/sweep.ts';
import { forgetTimers } from '../../webhooks/deliveries/wake-timers.ts';
import { catchUp, changesPerRound } from './copy.ts';
import { countRows, difference } from './counts.ts';
import { goTo, inNewHome, inOldHome, type Job } from './state.ts';
import { drop, findTriggers } from './triggers.ts';

/** How long writes may be refused before the switch is put off, and what has changed is copied again first. */
const longestFrozenMs = 3_500;

/** Catches up until little is left. */
export async function catchUpMost(job: Job): Promise<void> {
  if ((await catchUp(job)) >= changesPerRound / 4) return;
  await inOldHome(job, (db) => [goTo(db, job, 'draining', { gate: 'drain' })] as const);
}

/**
 * Waits until no call to a receiver and no pull is under way: nothing new is claimed meanwhile. Then has the account's
 * writes refused, copies what is left, compares the counts, and decides: from here on the move goes to its end.
 */
export async function drainAndFreeze(job: Job): Promise<void> {
  await catchUp(job);
  const leftMs = (await claimedUntil(job)) - Date.now();
  if (leftMs > 0) return scheduler.wait(Math.min(leftMs, 250));
  await inOldHome(
    job,
    (db) =>
      [
        goTo(db, job, 'frozen', { gate: '-' }),
        change(db, sql`update moves set frozen_at = ${Date.now()} where account_id = ${job.accountId}`),
        setFrozen(db, job.accountId, true),
      ] as const,
  );
  const until = Date.now() + longestFrozenMs;
  while ((await catchUp(job)) > 0) if (Date.now() > until) return thaw(job);
  const [old, copied] = await Promise.all([
    countRows(job.from, job.accountId),
    countRows(job.to, job.accountId),
  ]);
  const problem = difference(old, copied);
  if (problem !== undefined) return stop(job, problem);
  if (Date.now() > until) return thaw(job);
  await inOldHome(job, (db) => [goTo(db, job, 'switching')] as const);
}

/** Until when something of the account is claimed (milliseconds since 1970). */
async function claimedUntil({ from, accountId }: Job): Promise<number> {
  const [found] = await statement<{ deliveries: number | null; pulls: number | null }>(
    openDatabase(from),
    sql`
    with ${pendingWebhooks}
    select (select max(d.claimed_until) from hooks cross join deliveries d indexed by deliveries_due
        on d.webhook_id = hooks.id and d.status = 'pending'
        where (select account_id from deliveries where webhook_id = hooks.id limit 1) = ${accountId}) as deliveries,
      (select max(p.claimed_until) from connections c cross join pulls p on p.connection_id = c.id
        where c.account_id = ${accountId} and p.claim is not null) as pulls`,
  );
  return Math.max(found?.deliveries ?? 0, found?.pulls ?? 0);
}

/** Lets writes through again, and goes back to catching up. */
export const thaw = (job: Job): Promise<void> => leaveFrozen(job, 'catching up', null);

/** What was copied is not what is there: nothing but looking into it helps. */
export const stop = (job: Job, problem: string): Promise<void> => leaveFrozen(job, 'stopped', problem);

async function leaveFrozen(
  job: Job,
  state: 'catching up' | 'stopped',
  problem: string | null,
): Promise<void> {
  await inOldHome(
    job,
    (db) =>
      [
        goTo(db, job, state, { gate: '' }),
        endRefusals(job, db),
        change(db, sql`update moves set problem = ${problem} where account_id = ${job.accountId}`),
        setFrozen(db, job.accountId, false),
      ] as const,
  );
}

const endRefusals = ({ accountId }: Job, db: ReturnType<typeof openDatabase>) =>
  change(
    db,
    sql`update moves set refused_ms = refused_ms + ${Date.now()} - coalesce(frozen_at, ${Date.now()}), frozen_at = null
      where account_id = ${accountId}`,
  );

/**
 * Has the account live in the new home. First that can be read as well as the old one, then it alone; only then can it
 * be written. So there is no moment in which nobody can read, and none in which both can be written.
 */
export async function switchHomes(job: Job): Promise<void> {
  const { accountId, from, to } = job;
  const [account] = await statement<{ name: string; status: string }>(
    openDatabase(from),
    sql`select name, status from accounts where id = ${accountId}`,
  );
  if (!account) throw new Error('An account that moves is there');
  await inNewHome(job, (db) => [settle(db, accountId, account)] as const);
  await inOldHome(job, (db) => [leave(db, accountId, nameOf(to)), goTo(db, job, 'opening')]);
  noteMoved(accountId, nameOf(to));
}

/** Lets the account be written in its new home, and starts what it has to do there. */
export async function openNewHome(job: Job): Promise<void> {
  const { accountId, from, to } = job;
  const db = openDatabase(to);
  const [triggers, [arriving]] = await transaction(
    db,
    [
      findTriggers(db, accountId),
      statement(db, sql`select 1 from moves where account_id = ${accountId} and role = 'arriving'`),
    ],
    { repeatable: true },
  );
  if (arriving)
    await inNewHome(job, (there) => [
      ...drop(there, triggers),
      note(there, operatorIn(accountId), {
        action: 'changed',
        subject: 'account',
        of: sql`select id, name from accounts where id = ${accountId}
          and exists (select 1 from moves where account_id = ${accountId} and role = 'arriving')`,
        fields: ['home'],
      }),
      // Messages that were to come at these times are in the old home's queue.
      forgetTimers(there, accountId),
      setFrozen(there, accountId, false),
      change(there, sql`delete from moves where account_id = ${accountId} and role = 'arriving'`),
    ]);
  await inOldHome(job, (old) => [endRefusals(job, old)] as const);
  await wakeAll(to, accountId);
  await untilCachesExpire(from); // until then somebody may still read a replica of what goes next
  await inOldHome(job, (old) => [goTo(old, job, 'cleaning up')] as const);
}

async function wakeAll(env: Env, accountId: string): Promise<void> {
  const db = openDatabase(env);
  const [webhooks, fanOuts] = await transaction(
    db,
    [
      statement<{ id: string }>(db, sql`select id from webhooks where account_id = ${accountId}`),
      statement<{ id: string }>(db, sql`select id from fan_outs where account_id = ${accountId}`),
    ],
    { repeatable: true },
  );
  const wakes = wakeOf(
    accountId,
    webhooks.map(({ id }) => id),
  );
  await send(env.DELIVERIES, [...wakes, ...fanOuts.map(({ id }) => ({ fanOut: id }))]);
}
