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
import { endLease } from '../../platform/jobs/lease.ts';
import { forgetTimers } from '../../webhooks/deliveries/queue.ts';
import { removeServiceLevels } from '../../webhooks/service-levels.ts';
import { removeFiles } from './files.ts';
import { removeRows } from './rows.ts';
import { cancel, findMove, goTo, type Job, leaseOf, type Move, noteWritable, resume } from './state.ts';

/**
 * Cancels a move: allows writes again and schedules the deletion of what was copied. Whoever works on it loses the lease.
 *
 * @throws Refusal: invalid, when there is no move, or it is past the switch
 */
export async function cancelMove(env: Env, accountId: string): Promise<void> {
  await cancel(env, accountId, null, endLease(openDatabase(env), leaseOf(accountId)));
  const move = await findMove(env, accountId);
  if (!move) throw invalid('The account is not being moved');
  if (move.state !== 'cancelling')
    throw invalid(`The account lives in ${move.home} already. To have it back, move it again.`);
}

/** Deletes a chunk of what was copied, and at the end the move itself. The row that points to the old home stays. */
export async function cancelChunk(job: Job, move: Move): Promise<void> {
  if ((await isArriving(job)) && !(await remove(job, 'new', move))) return;
  await job.old.write(forget(job.old.db, job));
}

/** Deletes a chunk of what the old home still has. The account's row stays and names the new home. */
export const cleanUp = (job: Job, move: Move): Promise<boolean> => remove(job, 'old', move);

/**
 * Deletes a chunk of the rows of an account in the home where it does not live, then some of its files, and at the end
 * the home's row of the move. Returns whether that was the end.
 */
async function remove(job: Job, where: 'old' | 'new', { state, cursor }: Move): Promise<boolean> {
  const { accountId, tables } = job;
  const [home, { db, write }] = where === 'old' ? [job.from, job.old] : [job.to, job.fresh];
  const rest =
    (await removeRows(home, accountId, tables, cursor, write)) ??
    ((await removeFiles(home, accountId)) ? undefined : { table: -1 });
  if (rest) await goTo(job, state, { cursor: rest });
  else await write(removeMarks(db, accountId), removeServiceLevels(db, accountId), forget(db, job));
  return !rest;
}

const forget = (db: Database, { accountId }: Job) =>
  change(db)`delete from moves where account_id = ${accountId}`;

/** Whether the new home still waits for the account. */
async function isArriving({ fresh, accountId }: Job): Promise<boolean> {
  const found = await statement(fresh.db)`
    select 1 from moves where account_id = ${accountId} and state = 'arriving'`;
  return found.length > 0;
}

/**
 * Switches the account to the new home: first both homes can be read, then the new one alone, and only then can it be
 * written. So reads never fail, and never can both be written.
 */
export async function switchHomes(job: Job): Promise<void> {
  const { accountId, to, old, fresh } = job;
  const [account] = await statement<{ name: string; status: string; units: string }>(old.db)`
    select name, status, units from accounts where id = ${accountId}`;
  if (!account) throw new Error('An account that moves is there');
  await fresh.write(activate(fresh.db, accountId, account));
  await goTo(job, 'opening', {}, leave(old.db, accountId, nameOf(to)));
  noteMoved(accountId, nameOf(to));
}

/** Allows writes in the new home, where the next minute starts what is due. */
export async function openNewHome(job: Job): Promise<void> {
  const { accountId, from, old, fresh } = job;
  const { db } = fresh;
  if (await isArriving(job))
    await fresh.write(
      note(db, operatorIn(accountId), {
        action: 'changed',
        subject: 'account',
        of: sql`select id, name from accounts where id = ${accountId}
          and exists (select 1 from moves where account_id = ${accountId} and state = 'arriving')`,
        fields: ['home'],
      }),
      // The wake-up messages for these times are in the old home's queue.
      forgetTimers(db, accountId),
      ...resume(db, accountId),
      forget(db, job),
    );
  await old.write(noteWritable(old.db, accountId));
  await untilCachesExpire(from); // until then a replica may still be read
  await goTo(job, 'cleaning up');
}
