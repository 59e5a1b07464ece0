import { sql } from 'drizzle-orm';
import { activate, leave } from '../../accounts/accounts.ts';
import { note } from '../../accounts/audit/note.ts';
import { operatorIn } from '../../accounts/owner.ts';
import { removeMarks } from '../../fleet/trends/job.ts';
import { change, type Database, openDatabase, statement } from '../../platform/db/database.ts';
import { untilCachesExpire } from '../../platform/db/token-cache.ts';
import { invalid } from '../../platform/errors.ts';
import { nameOf } from '../../platform/homes/homes.ts';
import { noteMoved } from '../../platform/homes/moved.ts';
import { forgetTimers } from '../../webhooks/deliveries/queue.ts';
import { removeServiceLevels } from '../../webhooks/service-levels.ts';
import { removeFiles } from './files.ts';
import { removeRows } from './remove.ts';
import {
  type Cursor,
  cancel,
  findMove,
  goTo,
  inNewHome,
  inOldHome,
  type Job,
  type Move,
  noteWritable,
  resume,
} from './state.ts';

/** Deletes a chunk of what the old home still has. The account's row stays and names the new home. */
export const cleanUp = (job: Job, move: Move): Promise<boolean> => remove(job.from, inOldHome, job, move);

/**
 * Cancels a move: allows writes again and schedules the deletion of what was copied.
 *
 * @throws Refusal: invalid, when there is no move, or it is past the switch
 */
export async function cancelMove(env: Env, accountId: string): Promise<void> {
  await cancel(env, accountId);
  const move = await findMove(env, accountId);
  if (!move) throw invalid('The account is not being moved');
  if (move.state !== 'cancelling')
    throw invalid(`The account lives in ${move.home} already. To have it back, move it again.`);
}

/** Deletes a chunk of what was copied, and at the end the move itself. The row that points to the old home stays. */
export async function cancelChunk(job: Job, move: Move): Promise<void> {
  const [arriving] = await statement(openDatabase(job.to))`
    select 1 from moves where account_id = ${job.accountId} and role = 'arriving'`;
  if (!arriving || (await remove(job.to, inNewHome, job, move)))
    await inOldHome(job, (db) => [forget(db, job)]);
}

/**
 * Deletes a chunk of the rows of an account in a home where it does not live, then some of its files, and at the end
 * the home's row of the move. Returns whether that was the end.
 */
async function remove(
  home: Env,
  inHome: typeof inNewHome,
  job: Job,
  { state, cursor }: Move,
): Promise<boolean> {
  const { accountId } = job;
  const rest: Cursor | undefined =
    (await removeRows(home, job, cursor, (statements) => inHome(job, statements))) ??
    ((await removeFiles(home, accountId)) ? undefined : { table: -1 });
  if (rest) await inOldHome(job, (db) => [goTo(db, job, state, { cursor: rest })]);
  else
    await inHome(job, (db) => [
      removeMarks(db, accountId),
      removeServiceLevels(db, accountId),
      forget(db, job),
    ]);
  return !rest;
}

const forget = (db: Database, { accountId }: Job) =>
  change(db)`delete from moves where account_id = ${accountId}`;

/**
 * Switches the account to the new home: first both homes can be read, then the new one alone, and only then can it be
 * written. So reads never fail, and never can both be written.
 */
export async function switchHomes(job: Job): Promise<void> {
  const { accountId, from, to } = job;
  const [account] = await statement<{ name: string; status: string; units: string }>(openDatabase(from))`
    select name, status, units from accounts where id = ${accountId}`;
  if (!account) throw new Error('An account that moves is there');
  await inNewHome(job, (db) => [activate(db, accountId, account)]);
  await inOldHome(job, (db) => [leave(db, accountId, nameOf(to)), goTo(db, job, 'opening')]);
  noteMoved(accountId, nameOf(to));
}

/** Allows writes in the new home, where the next minute starts what is due. */
export async function openNewHome(job: Job): Promise<void> {
  const { accountId, from, to } = job;
  const [arriving] = await statement(openDatabase(to))`
    select 1 from moves where account_id = ${accountId} and role = 'arriving'`;
  if (arriving)
    await inNewHome(job, (db) => [
      note(db, operatorIn(accountId), {
        action: 'changed',
        subject: 'account',
        of: sql`select id, name from accounts where id = ${accountId}
          and exists (select 1 from moves where account_id = ${accountId} and role = 'arriving')`,
        fields: ['home'],
      }),
      // The wake-up messages for these times are in the old home's queue.
      forgetTimers(db, accountId),
      ...resume(db, accountId),
      change(db)`delete from moves where account_id = ${accountId} and role = 'arriving'`,
    ]);
  await inOldHome(job, (db) => [noteWritable(db, accountId)]);
  await untilCachesExpire(from); // until then a replica may still be read
  await inOldHome(job, (db) => [goTo(db, job, 'cleaning up')]);
}
