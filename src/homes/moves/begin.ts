import { sql } from 'drizzle-orm';
import { announce, setFrozen } from '../../accounts/accounts.ts';
import { livesHere, nobody } from '../../accounts/owner.ts';
import { bucketOf } from '../../fleet/archive/bucket.ts';
import { change, openDatabase, refuseUnless, statement, transaction } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { homesOf, nameOf } from '../../platform/homes/homes.ts';
import { claimedUntilOf } from '../../webhooks/deliveries/cancel.ts';
import { listAbandoned } from '../../webhooks/deliveries/sweep.ts';
import { stopWebhooks } from '../../webhooks/remove.ts';
import { countRows } from './copy.ts';
import { hasFiles } from './files.ts';
import { findMove, goTo, type Job, type Move } from './state.ts';

/**
 * Begins to move an account to another home, unless it is on its way there.
 *
 * @throws Refusal: invalid, with what to do
 */
export async function beginMove(env: Env, accountId: string, home: string): Promise<void> {
  const to = await targetOf(env, accountId, home);
  const known = await findMove(env, accountId);
  if (known) return refuseAnother(known, home);
  await refuseWhatCannotMove(env, to, accountId);
  const db = openDatabase(env);
  await transaction(
    db,
    [
      refuseUnless(
        db,
        sql`exists (select 1 from accounts where id = ${accountId} and id <> ${nobody} and home is null)`,
        'unknown account',
      ),
      refuseUnless(
        db,
        sql`not exists (select 1 from deletions where account_id = ${accountId})`,
        'deletion under way',
      ),
      change(db)`insert into moves (account_id, home, state, started_at)
          values (${accountId}, ${home}, 'draining', ${Date.now()}) on conflict do nothing`,
      refuseUnless(
        db,
        sql`not exists (select 1 from moves where account_id = ${accountId} and state <> 'draining')`,
        'account being moved',
      ),
      setFrozen(db, accountId, true),
      ...stopWebhooks(db, accountId, Date.now()),
    ],
    { repeatable: true },
  );
  const begun = await findMove(env, accountId);
  if (begun) refuseAnother(begun, home);
}

async function targetOf(env: Env, accountId: string, home: string): Promise<Env> {
  const to = homesOf(env).get(home);
  const must = (message: string) => invalid(`to ${message}`, [{ field: 'to', message }]);
  if (!to) throw must(`must be one of ${[...homesOf(env).keys()].join(', ')}`);
  if (home !== nameOf(env)) return to;
  if (!(await livesHere(env, 'account', accountId))) throw invalid('Unknown account');
  throw must(`must be another home: the account lives in ${home} already`);
}

function refuseAnother({ home, state }: Move, wanted: string): void {
  if (state === 'cancelling') throw invalid('The move is being cancelled. Try again once that is done.');
  if (home !== wanted)
    throw invalid(
      `The account is being moved to ${home} already. Cancel that first, or wait until it is there.`,
    );
}

/** Refuses before anything is written. */
async function refuseWhatCannotMove(from: Env, to: Env, accountId: string): Promise<void> {
  const [left] = await statement(openDatabase(to))`select 1 from moves where account_id = ${accountId}`;
  if (left)
    throw invalid(
      `${nameOf(to)} is still deleting what it had of this account before. Try again in some minutes.`,
    );
  const [archived] = await statement(openDatabase(from))`
    select 1 from archived_days where account_id = ${accountId} limit 1`;
  if (!archived && !(await hasFiles(from, accountId))) return;
  for (const env of [from, to])
    if (!bucketOf(env))
      throw invalid(
        `The account has an archive, and ${nameOf(env)} has no bucket. Give it one, and deploy: see the guide on homes.`,
      );
}

/** By then the background work of requests from before the freeze has ended. */
const quietMs = 1_000;

/**
 * Waits until no call to a receiver and no pull of the frozen account is under way. Then prepares the new home, where
 * the copied rows belong to nobody until the switch.
 */
export async function drain(job: Job, { startedAt }: Move): Promise<void> {
  const { accountId, from } = job;
  const leftMs = Math.max(await workEndsAt(job), startedAt + quietMs) - Date.now();
  if (leftMs > 0) return scheduler.wait(Math.min(leftMs, 250));
  await listAbandoned(openDatabase(from), Date.now());
  const { db, write } = job.fresh;
  const home = nameOf(from);
  const [account] = await statement<{ createdAt: number }>(openDatabase(from))`
    select created_at as createdAt from accounts where id = ${accountId}`;
  const { rows } = await estimateMove(from, accountId);
  await write(
    change(db)`insert into moves (account_id, home, state, started_at)
        values (${accountId}, ${home}, 'arriving', ${Date.now()}) on conflict do nothing`,
    announce(db, accountId, account?.createdAt ?? 0, home),
  );
  const counted = change(job.old.db)`update moves set total = ${rows} where account_id = ${accountId}`;
  await goTo(job, 'copying', {}, counted);
}

/** Until when deliveries or pulls of the account are claimed (milliseconds since 1970); 0 if none is. */
async function workEndsAt({ from, accountId }: Job): Promise<number> {
  const [deliveries, [pulls]] = await Promise.all([
    claimedUntilOf(from, accountId),
    statement<{ until: number | null }>(openDatabase(from))`
      select max(p.claimed_until) as until from connections c cross join pulls p on p.connection_id = c.id
      where c.account_id = ${accountId} and p.claim is not null`,
  ]);
  return Math.max(deliveries ?? 0, pulls?.until ?? 0);
}

/** How many rows are copied per second, and how long a claim can delay the copying. */
const rowsPerSecond = 3_000;
const longestPauseSeconds = 45;

/** How many rows an account has, and for how many seconds at most its writes will be refused. */
export async function estimateMove(env: Env, accountId: string): Promise<{ rows: number; seconds: number }> {
  const counts = await countRows(env, accountId);
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { rows, seconds: longestPauseSeconds + Math.ceil(rows / rowsPerSecond) };
}
