import { operatorIn } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit/write.ts';
import { type AccountRow, awaitAccount, forgetMove, setAccount } from '../../accounts/moving.ts';
import { takenDomain } from '../../accounts/single-sign-on.ts';
import { bucketOf } from '../../fleet/archive/bucket.ts';
import { restartCopies } from '../../fleet/evidence/evidence.ts';
import { removeMarks } from '../../fleet/trends/job.ts';
import { config } from '../../platform/config.ts';
import { breaksUnique, read, transaction, write } from '../../platform/db/database.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { Refusal } from '../../platform/errors.ts';
import { forgetTimers } from '../../webhooks/deliveries/receiver/store.ts';
import { resumeWebhooks } from '../../webhooks/remove.ts';
import { fromArrays, jsonArrays, list, raw } from '../deletion/rows.ts';
import { removeCopy } from '../deletion/run.ts';
import { tables } from '../deletion/tables.ts';
import { keySums, type Offer } from './leave.ts';
import { decodePart, findMove, type Move, type Part, saveMove } from './part.ts';

/** Does a part of a move, which may be repeated. Returns why not, or null. @throws Refusal: unavailable */
export async function accept(env: Env, header: string, request: Request): Promise<string | null> {
  const part = decodePart(header);
  const { task, next, file } = part;
  const id = next.accountId;
  if (task === 'open') return open(env, part, await request.json());
  const db = openDatabase(env);
  const move = await findMove(env, id);
  if (move?.id !== next.id || move.state !== 'arriving') {
    const [here] = await read(db)`select 1 from accounts where id = ${id} and status <> 'moved'`;
    if (task === 'clear' || (task === 'activate' && here)) return null; // done before
    throw new Refusal({ kind: 'unavailable', retryAfter: 10 });
  }
  if (file) await bucketOf(env)?.put(file.key, request.body, file.md5 ? { md5: file.md5 } : {});
  if (task === 'copy') return copy(env, move, await request.json());
  if (task === 'compare') return compare(env, await request.json());
  if (task === 'clear')
    await transaction(db, [saveMove(db, move, { ...move, state: 'done' }), removeCopy(db, id)]);
  if (task === 'activate') await activate(env, move, await request.json());
  return null;
}

async function open(env: Env, { from, next }: Part, { account, keys, hasBucket, domains }: Offer) {
  const { cell } = config(env);
  const own = await keySums(env);
  const unknown = keys.filter((key) => !own.includes(key)).map((key) => key.split(' ')[0]);
  if (unknown.length > 0)
    return `Cells share HEADER_KEYS, and ${cell} lacks the key ${unknown.join(', ')}. Add it there.`;
  if (hasBucket && !bucketOf(env))
    return `${from} has a bucket for archives, and ${cell} has no bucket. Give it one, and deploy.`;
  const db = openDatabase(env);
  const [found] = await read<{ lives: number; left: number }>(db)`
    select exists (select 1 from accounts where id = ${account.id} and status <> 'moved') as lives,
      exists (select 1 from deletions where account_id = ${account.id}) as left`;
  if (found?.lives) return `The account lives in ${cell} already`;
  if (found?.left)
    return `${cell} is still deleting what it had of this account. Try again in some minutes.`;
  const taken = await takenDomain(env, account.id, domains);
  if (taken) return isTaken(cell, taken);
  const now = (await findMove(env, account.id)) ?? null;
  const saved = saveMove(db, now, { ...next, state: 'arriving' });
  await transaction(db, [awaitAccount(db, account, from), saved]);
  return null;
}

const isTaken = (cell: string, domain: string) =>
  `Another account in ${cell} has proven the domain ${domain}. Have one of both remove it under Settings → Sign-in.`;

type Rows = { table: string; columns: string[]; rows: unknown[][] };

async function copy(
  env: Env,
  move: Move,
  { table: name, columns, rows }: Rows,
): Promise<string | null> {
  const key = await keyOf(env, name, columns);
  if (!key) return `${config(env).cell} has other tables. Deploy the same version to both cells.`;
  const db = openDatabase(env);
  // Copying the events marked their hours as due; the marks that they had are copied next.
  const marks = name === 'event_counting' ? removeMarks(db, move.accountId) : undefined;
  // Not the key: to what refers to it, that would count as a new one.
  const others = columns.filter((column) => !key.includes(column));
  const set = others.map((column) => `${column} = excluded.${column}`).join(', ');
  const update = raw(set === '' ? 'do nothing' : `do update set ${set}`);
  const upsert = (json: string) => write(db)`
    insert into ${raw(name)} (${list(columns)}) ${fromArrays(columns, json)}
    on conflict (${list(key)}) ${update}`;
  try {
    await transaction(db, [saveMove(db, move, move), marks, jsonArrays(rows).map(upsert)]);
    return null;
  } catch (error) {
    // Since this cell was asked, another account has proven it.
    if (!breaksUnique(error, 'sign_in_domains.domain')) throw error;
    return isTaken(config(env).cell, rows.map((row) => row[columns.indexOf('domain')]).join(', '));
  }
}

/** Compares rows value by value: there may be others, which the other cell has pruned since. */
async function compare(env: Env, { table: name, columns, rows }: Rows): Promise<string | null> {
  const key = (await keyOf(env, name, columns)) ?? [];
  for (const json of jsonArrays(rows)) {
    const [differs] = await read(openDatabase(env))`
      ${fromArrays(columns, json)} except
      select ${list(columns)} from ${raw(name)}
      where (${list(key)}) in (${fromArrays(columns, json, key)}) limit 1`;
    if (differs) return `The copy of ${name} differs. Begin again.`;
  }
  return null;
}

async function keyOf(env: Env, name: string, columns: string[]): Promise<string[] | undefined> {
  const found = await read<{ name: string }>(openDatabase(env))`
    select name from pragma_table_info(${name})`;
  const own = found.map((column) => column.name);
  return columns.every((column) => own.includes(column))
    ? tables.find((table) => table.name === name)?.key
    : undefined;
}

async function activate(env: Env, move: Move, account: AccountRow): Promise<void> {
  const db = openDatabase(env);
  const { accountId: id } = move;
  const { name, units, quotas, evidenceDays, evidenceSince } = account;
  const evidence = { evidenceDays, evidenceSince };
  await transaction(db, [
    saveMove(db, move, move),
    setAccount(db, id, { status: 'active', cell: null, name, units, quotas, ...evidence }),
    audit(db, operatorIn(id), 'changed', 'accounts', id, ['cell']),
    // The wake-up messages for these times are in the other cell's queue.
    forgetTimers(db, id),
    // Copies that had begun are in the bucket that was left.
    restartCopies(db, id),
    resumeWebhooks(db, id),
    forgetMove(db, id),
  ]);
}
