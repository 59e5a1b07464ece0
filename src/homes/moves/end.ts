import { sql } from 'drizzle-orm';
import { retract, setFrozen } from '../../accounts/home.ts';
import { change, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { removeChunk } from './remove.ts';
import { type Cursor, findMove, goTo, inNewHome, inOldHome, type Job, type Move } from './state.ts';
import { drop, findTriggers } from './triggers.ts';

/** Deletes some of what the old home still has. The account's own row stays, and says where it lives. */
export async function cleanUp(job: Job, { cursor }: Move): Promise<void> {
  const next = await removeChunk(job.from, inOldHome, job, cursor);
  if (next) await note(job, 'cleaning up', next);
  else await forget(job);
}

const note = (job: Job, state: 'cleaning up' | 'cancelling', cursor: Cursor) =>
  inOldHome(job, (db) => [goTo(db, job, state, { cursor })] as const);

/** Deletes the move itself, with its triggers and notes. */
async function forget(job: Job): Promise<void> {
  const triggers = await findTriggers(openDatabase(job.from), job.accountId);
  const of = sql`where account_id = ${job.accountId}`;
  await inOldHome(job, (db) => [
    ...drop(db, triggers),
    change(db, sql`delete from moved_rows ${of}`),
    change(db, sql`delete from moves ${of}`),
  ]);
}

/** The states in which a move can be cancelled. */
const undecided = ['starting', 'copying', 'copying files', 'catching up', 'draining', 'frozen', 'stopped'];

/**
 * Has a move cancelled: writes are let through, and what was copied will be deleted.
 *
 * @throws Refusal: invalid, when there is none, or it is past the switch
 */
export async function cancelMove(env: Env, accountId: string): Promise<void> {
  const db = openDatabase(env);
  const isUndecided = sql`account_id = ${accountId} and role = 'leaving'
    and state in (select value from json_each(${JSON.stringify(undecided)}))`;
  await transaction(
    db,
    [
      setFrozen(db, accountId, false, sql`exists (select 1 from moves where ${isUndecided})`),
      // Whoever is at it has lost the turn.
      change(
        db,
        sql`update moves set state = 'cancelling', gate = '', cursor = '{}', turn = turn + 1, claimed_until = 0
          where ${isUndecided}`,
      ),
    ],
    { repeatable: true },
  );
  const move = await findMove(env, accountId);
  if (!move) throw invalid('The account is not being moved');
  if (move.state !== 'cancelling')
    throw invalid(`The account lives in ${move.home} already. To have it back, move it again.`);
}

/** Deletes some of what was copied, and in the end all that says of the move. */
export async function cancelChunk(job: Job, { cursor }: Move): Promise<void> {
  const { accountId, to } = job;
  const db = openDatabase(to);
  const [arriving] = await statement<{ wasHere: number }>(
    db,
    sql`select was_here as wasHere from moves where account_id = ${accountId} and role = 'arriving'`,
  );
  const next = arriving && (await removeChunk(to, inNewHome, job, cursor));
  if (next) {
    await note(job, 'cancelling', next);
    return;
  }
  if (arriving) {
    const triggers = await findTriggers(db, accountId);
    await inNewHome(job, (there) => [
      ...drop(there, triggers),
      // One that has lived here before leaves the row that leads on.
      ...(arriving.wasHere ? [] : [retract(there, accountId)]),
      change(there, sql`delete from moves where account_id = ${accountId}`),
    ]);
  }
  await forget(job);
}
