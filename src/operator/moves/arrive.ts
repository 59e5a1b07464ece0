import { sql } from 'drizzle-orm';
import { note } from '../../accounts/audit/note.ts';
import {
  awaitAccount,
  findMove,
  forgetMove,
  isAt,
  type Move,
  saveMove,
  settle,
} from '../../accounts/moving.ts';
import { operatorIn } from '../../accounts/owner.ts';
import { bucketOf } from '../../fleet/archive/bucket.ts';
import { removeMarks } from '../../fleet/trends/job.ts';
import { config } from '../../platform/config.ts';
import { checksum } from '../../platform/crypto.ts';
import {
  type Database,
  read,
  refuseUnless,
  transaction,
  type Write,
  write,
} from '../../platform/db/database.ts';
import { beingMoved } from '../../platform/db/guard.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { Refusal } from '../../platform/errors.ts';
import { forgetTimers } from '../../webhooks/deliveries/receiver/timers.ts';
import { resumeWebhooks } from '../../webhooks/remove.ts';
import type { Arrival } from '../api/moves.ts';
import { fromArrays, jsonArrays, list, type MovedRow, movedTables, raw } from '../deletion/rows.ts';
import { removeCopy } from '../deletion/run.ts';

/**
 * Does what the cell asks for that an account leaves. All of it may be repeated. Returns a problem, for which the move is
 * cancelled, or null.
 *
 * @throws Refusal: unavailable, for an account that is not awaited by this move
 */
export async function accept(env: Env, accountId: string, arrival: Arrival): Promise<string | null> {
  const { task, account } = arrival;
  if (task === 'open') return open(env, accountId, arrival);
  const move = await findMove(env, accountId);
  const db = openDatabase(env);
  if (!isAwaited(move, arrival.move)) {
    const [here] = await read(db)`select 1 from accounts where id = ${accountId} and status <> 'moved'`;
    if (task === 'clear' || (task === 'activate' && here)) return null; // done before
    throw new Refusal({ kind: 'unavailable', retryAfter: 10 });
  }
  if (task === 'copy' || task === 'compare') return compareOrCopy(env, move, arrival);
  if (task === 'clear')
    await commit(db, move, removeCopy(db, accountId), saveMove(db, { ...move, state: 'deleting' }));
  if (task === 'activate' && account)
    await commit(
      db,
      move,
      settle(db, accountId, account),
      note(db, operatorIn(accountId), {
        action: 'changed',
        subject: 'account',
        of: sql`select id, name from accounts where id = ${accountId}`,
        fields: ['cell'],
      }),
      // The wake-up messages for these times are in the other cell's queue.
      forgetTimers(db, accountId),
      resumeWebhooks(db, accountId),
      forgetMove(db, accountId),
    );
  return null;
}

/** Whether the copy of an account is awaited by a move. */
export const isAwaited = (move: Move | undefined, id: string): move is Move =>
  move?.id === id && move.state === 'arriving';

const commit = (db: Database, move: Move, ...changes: Write[]) =>
  transaction(db, [refuseUnless(db, isAt(move), beingMoved), ...changes]);

/** The ids of HEADER_KEYS, with what shows that another cell has the same key under that id. */
export const keySums = (env: Env): Promise<{ id: string; sum: string }[]> =>
  Promise.all(
    config(env).headerKeys.map(async (key) => ({ id: key.id, sum: await checksum([key], 'move', key.id) })),
  );

/** Looks whether this cell can take the account, and awaits it then. */
async function open(
  env: Env,
  accountId: string,
  { move: id, from, ...offer }: Arrival,
): Promise<string | null> {
  const { account, keys = [], hasFiles } = offer;
  const { cell } = config(env);
  const own = new Map((await keySums(env)).map((key) => [key.id, key.sum]));
  const unknown = keys.filter((key) => own.get(key.id) !== key.sum).map((key) => key.id);
  if (unknown.length > 0 || !account)
    return `Cells share HEADER_KEYS, and ${cell} lacks the key ${unknown.join(', ')}. Add it there.`;
  if (hasFiles && !bucketOf(env))
    return `The account has an archive, and ${cell} has no bucket. Give it one, and deploy.`;
  const db = openDatabase(env);
  const [found] = await read<{ lives: number; left: number }>(db)`
    select exists (select 1 from accounts where id = ${accountId} and status <> 'moved') as lives,
      exists (select 1 from deletions where account_id = ${accountId}) as left`;
  if (found?.lives) return `The account lives in ${cell} already`;
  if (found?.left) return `${cell} is still deleting what it had of this account. Try again in some minutes.`;
  const state = 'arriving' as const;
  const move = { accountId, id, cell: from, state, cursor: '{}', total: 0, copied: 0, problem: null };
  await transaction(db, [
    awaitAccount(db, accountId, from, account),
    saveMove(db, { ...move, since: Date.now() }),
  ]);
  return null;
}

/** Writes rows, or compares them value by value: there may be others, which the other cell has pruned since. */
async function compareOrCopy(env: Env, move: Move, { task, columns = [], ...chunk }: Arrival) {
  const { table: name, rows = [] } = chunk;
  const table = (await movedTables(env)).find((one) => one.name === name);
  if (!table || !columns.every((column) => table.columns.includes(column)))
    return `${config(env).cell} has other tables. Deploy the same version to both cells.`;
  const db = openDatabase(env);
  const { key } = table;
  if (task === 'copy') {
    // Copying the events marked their hours as due; the marks that they had are copied next.
    const marks = name === 'event_counting' ? [removeMarks(db, move.accountId)] : [];
    const set = columns.map((column) => `${column} = excluded.${column}`).join(', ');
    const upserts = jsonArrays(rows).map(
      (json) => write(db)`
        insert into ${raw(table.name)} (${list(columns)}) ${fromArrays(columns, json)}
        on conflict (${list(key)}) do update set ${raw(set)}`,
    );
    await commit(db, move, ...marks, ...upserts);
    return null;
  }
  // When a token was last used is also recorded of readers, meanwhile.
  const compared = columns.filter((column) => column !== 'last_used_at');
  const textOf = (row: MovedRow) => JSON.stringify(compared.map((column) => row[column]));
  const sent = rows.map(
    (row): MovedRow => Object.fromEntries(columns.map((one, at) => [one, row[at] ?? null])),
  );
  const own = new Set<string>();
  for (const keys of jsonArrays(sent.map((row) => key.map((one) => row[one]))))
    for (const row of await read<MovedRow>(db)`
      select ${list(compared)} from ${raw(table.name)} where (${list(key)}) in (${fromArrays(key, keys)})`)
      own.add(textOf(row));
  return sent.every((row) => own.has(textOf(row))) ? null : `The copy of ${name} differs. Begin again.`;
}
