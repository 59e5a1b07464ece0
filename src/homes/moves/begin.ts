import { sql } from 'drizzle-orm';
import { announce } from '../../accounts/home.ts';
import { livesHere, nobody } from '../../accounts/owner.ts';
import { bucketOf } from '../../fleet/archive/bucket.ts';
import { change, openDatabase, refuseUnless, statement, transaction } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { homesOf, nameOf } from '../../platform/homes/homes.ts';
import { countRows } from './counts.ts';
import { hasFiles } from './files.ts';
import { findMove, goTo, inNewHome, inOldHome, type Job, type Move } from './state.ts';
import { seal, watch } from './triggers.ts';

/**
 * Begins to move an account from the home where it lives, unless it is on its way there already.
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
      change(
        db,
        sql`insert into moves (account_id, role, home, state, started_at)
          values (${accountId}, 'leaving', ${home}, 'starting', ${Date.now()}) on conflict do nothing`,
      ),
      ...watch(db, accountId),
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
  if (state === 'stopped')
    throw invalid('The move has stopped: see its problem. Cancel it, and begin again.');
  if (home !== wanted)
    throw invalid(
      `The account is being moved to ${home} already. Cancel that first, or wait until it is there.`,
    );
}

/** Nothing is left half done: what is missing is found before anything is written. */
async function refuseWhatCannotMove(from: Env, to: Env, accountId: string): Promise<void> {
  const [left] = await statement(openDatabase(to), sql`select 1 from moves where account_id = ${accountId}`);
  if (left)
    throw invalid(
      `${nameOf(to)} is still deleting what it had of this account before. Try again in some minutes.`,
    );
  const [archived] = await statement(
    openDatabase(from),
    sql`select 1 from archived_days where account_id = ${accountId} limit 1`,
  );
  if (!archived && !(await hasFiles(from, accountId))) return;
  for (const env of [from, to])
    if (!bucketOf(env))
      throw invalid(
        `The account has an archive, and ${nameOf(env)} has no bucket. Give it one, and deploy: see the guide on homes.`,
      );
}

/** Prepares the new home: what comes there is nobody's to read or write until the account lives there. */
export async function prepare(job: Job): Promise<void> {
  const { accountId, from, turn } = job;
  const db = openDatabase(job.to);
  const home = nameOf(from);
  const [account] = await statement<{ createdAt: number }>(
    openDatabase(from),
    sql`select created_at as createdAt from accounts where id = ${accountId}`,
  );
  const total = Object.values(await countRows(from, accountId)).reduce((sum, count) => sum + count, 0);
  await transaction(
    db,
    [
      change(
        db,
        sql`insert into moves (account_id, role, home, state, gate, turn, was_here, started_at)
          values (${accountId}, 'arriving', ${home}, 'arriving', '-', ${turn},
            exists (select 1 from accounts where id = ${accountId}), ${Date.now()})
          on conflict do update set turn = excluded.turn where role = 'arriving' and turn < excluded.turn`,
      ),
      ...seal(db, accountId),
    ],
    { repeatable: true },
  );
  await inNewHome(job, (there) => [announce(there, accountId, account?.createdAt ?? 0, home)]);
  await inOldHome(job, (old) => [
    change(old, sql`update moves set total = ${total} where account_id = ${accountId}`),
    goTo(old, job, 'copying'),
  ]);
}
