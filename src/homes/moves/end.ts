import { removeMarks } from '../../fleet/trends/job.ts';
import { change, type Database, openDatabase, statement } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { removeServiceLevels } from '../../webhooks/service-levels.ts';
import { removeFiles } from './files.ts';
import { removeRows } from './remove.ts';
import { type Cursor, cancel, findMove, goTo, inNewHome, inOldHome, type Job, type Move } from './state.ts';

/** Deletes a chunk of what the old home still has. The account's row stays and names the new home. */
export async function cleanUp(job: Job, { cursor }: Move): Promise<void> {
  const next = await removeChunk(job.from, inOldHome, job, cursor);
  if (next) await note(job, 'cleaning up', next);
  else
    await inOldHome(job, (db) => [
      removeMarks(db, job.accountId),
      removeServiceLevels(db, job.accountId),
      forget(db, job),
    ]);
}

const note = (job: Job, state: 'cleaning up' | 'cancelling', cursor: Cursor) =>
  inOldHome(job, (db) => [goTo(db, job, state, { cursor })]);

const forget = (db: Database, { accountId }: Job) =>
  change(db)`delete from moves where account_id = ${accountId}`;

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
export async function cancelChunk(job: Job, { cursor }: Move): Promise<void> {
  const { accountId, to } = job;
  const db = openDatabase(to);
  const [arriving] = await statement(db)`
    select 1 from moves where account_id = ${accountId} and role = 'arriving'`;
  const next = arriving && (await removeChunk(to, inNewHome, job, cursor));
  if (next) {
    await note(job, 'cancelling', next);
    return;
  }
  if (arriving)
    await inNewHome(job, (there) => [
      removeMarks(there, accountId),
      removeServiceLevels(there, accountId),
      forget(there, job),
    ]);
  await inOldHome(job, (old) => [forget(old, job)]);
}

/** Deletes a chunk of the rows of an account in a home where it does not live, and then some of its files. */
async function removeChunk(
  home: Env,
  inHome: typeof inNewHome,
  job: Job,
  cursor: Cursor,
): Promise<Cursor | undefined> {
  const next = await removeRows(home, job, cursor, (statements) => inHome(job, statements));
  return next ?? ((await removeFiles(home, job.accountId)) ? undefined : { table: -1 });
}
