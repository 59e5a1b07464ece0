import { and, eq, ne, sql } from 'drizzle-orm';
import { awaitFrom, operatorIn, setAccount } from '../../core/accounts/accounts.ts';
import { audit } from '../../core/accounts/audit/write.ts';
import { config } from '../../core/platform/config.ts';
import { breaksUnique, type Database, transaction } from '../../core/platform/db/database.ts';
import { d1Reason } from '../../core/platform/db/retry.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { deletions } from '../../core/platform/db/schema/jobs.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { Refusal } from '../../core/platform/errors.ts';
import { forgetTimers } from '../../core/webhooks/deliveries/receiver/store.ts';
import { resumeWebhooks } from '../../core/webhooks/remove.ts';
import { bucketOf } from '../../extras/archive/bucket.ts';
import { restartCopies } from '../../extras/evidence/evidence.ts';
import { takenDomain } from '../../extras/single-sign-on/single-sign-on.ts';
import { removeMarks } from '../../extras/trends/job.ts';
import { countRows, fromArrays, jsonArrays, list, raw } from '../deletion/rows.ts';
import { removeCopy } from '../deletion/run.ts';
import { tables } from '../deletion/tables.ts';
import { keySums } from './leave.ts';
import type { Account, Move, Offer, Part, Rows } from './part.ts';
import { decodePart, findMove, forgetMove, saveMove } from './part.ts';

/** Does a part of a move, which may be repeated. Returns why not, or null. @throws Refusal: unavailable */
export async function accept(env: Env, header: string, request: Request): Promise<string | null> {
  const part = decodePart(header);
  const { task, next, file } = part;
  const id = next.accountId;
  if (task === 'open') return open(env, part, await request.json());
  const db = openDatabase(env);
  const move = await findMove(env, id);
  if (move?.id !== next.id || move.state !== 'arriving') {
    const [lives] = await transaction(db, here(db, id));
    if (task === 'clear' || (task === 'activate' && lives)) return null; // done before
    throw new Refusal({ kind: 'unavailable', retryAfter: 10 });
  }
  if (file) await bucketOf(env)?.put(file.key, request.body, file.md5 ? { md5: file.md5 } : {});
  if (task === 'copy') return copy(env, move, await request.json());
  if (task === 'compare') return compare(env, id, await request.json());
  if (task === 'activate') await activate(db, move, await request.json());
  if (task === 'clear')
    await transaction(db, [saveMove(db, move, move), forgetMove(db, id), removeCopy(db, id)]);
  return null;
}

/** The statement that finds an account that lives here. */
const here = (db: Database, id: string) =>
  db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.id, id), ne(accounts.status, 'moved')));

async function open(env: Env, { from, next }: Part, { account, keys, hasBucket, domains }: Offer) {
  const { cell } = config(env);
  const own = await keySums(env);
  const unknown = keys.filter((key) => !own.includes(key)).map((key) => key.split(' ')[0]);
  if (unknown.length > 0)
    return `Cells share ENCRYPTION_KEYS, and ${cell} lacks the key ${unknown.join(', ')}. Add it there.`;
  if (hasBucket && !bucketOf(env))
    return `${from} has a bucket for archives, and ${cell} has no bucket. Give it one, and deploy.`;
  const db = openDatabase(env);
  const { id } = account;
  const { lives, left } = await transaction(db, {
    lives: here(db, id),
    left: db
      .select({ id: deletions.id })
      .from(deletions)
      .where(eq(deletions.accountId, id))
      .limit(1),
  });
  if (lives[0]) return `The account lives in ${cell} already`;
  if (left[0])
    return `${cell} is still deleting what it had of this account. Try again in some minutes.`;
  const taken = await takenDomain(env, id, domains);
  if (taken) return isTaken(cell, taken);
  const now = (await findMove(env, id)) ?? null;
  await transaction(db, [
    awaitFrom(db, account, from),
    saveMove(db, now, { ...next, state: 'arriving' }),
  ]);
  return null;
}

const isTaken = (cell: string, domain: string) =>
  `Another account in ${cell} has proven the domain ${domain}. Have one of both remove it under Settings → Sign-in.`;

async function copy(
  env: Env,
  move: Move,
  { table: name, columns, rows }: Rows,
): Promise<string | null> {
  const { cell } = config(env);
  const differs = `${cell} has other tables. Deploy the same version to both cells.`;
  const key = tables.find((table) => table.name === name)?.key;
  if (!key || !columns.every((column) => /^\w+$/.test(column))) return differs;
  const db = openDatabase(env);
  // Copying the events marked their hours as due; the marks that they had are copied next.
  const marks = name === 'event_counting' ? removeMarks(db, move.accountId) : undefined;
  // Not the key: to what refers to it, that would count as a new one.
  const others = columns.filter((column) => !key.includes(column));
  const set = others.map((column) => `${column} = excluded.${column}`).join(', ');
  const update = raw(set === '' ? 'do nothing' : `do update set ${set}`);
  // The table is known only at run time.
  const upsert = (json: string) =>
    db.run(sql`
      insert into ${raw(name)} (${list(columns)})
      select * from ${fromArrays(columns.length, json)} where true
      on conflict (${list(key)}) ${update}`);
  try {
    await transaction(db, [saveMove(db, move, move), marks, jsonArrays(rows).map(upsert)]);
    return null;
  } catch (error) {
    if (/has no column/.test(d1Reason(error))) return differs;
    // Since this cell was asked, another account has proven it.
    if (!breaksUnique(error, 'sign_in_domains.domain')) throw error;
    return isTaken(cell, rows.map((row) => row[columns.indexOf('domain')]).join(', '));
  }
}

/** Compares how many rows of an account the cells have. */
async function compare(env: Env, id: string, theirs: { [table: string]: number }) {
  const own = await countRows(env, id);
  const differs = Object.keys(own).find((table) => own[table] !== theirs[table]);
  return differs ? `The copy of ${differs} differs. Begin again.` : null;
}

async function activate(db: Database, move: Move, account: Account): Promise<void> {
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
