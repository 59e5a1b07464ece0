import { removeMarks } from '../../fleet/trends/job.ts';
import { change, type Database, openDatabase, statement } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { removeServiceLevels } from '../../webhooks/service-levels.ts';
import { removeFiles } from './files.ts';
import { removeRows } from './remove.ts';
import { type Cursor, cancel, findMove, goTo, inNewHome, inOldHome, type Job, type Move } from './state.ts';

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
