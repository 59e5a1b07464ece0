import { and, eq, exists, ne, not } from 'drizzle-orm';
import { deletedAccountId, setAccount } from '../../core/accounts/accounts.ts';
import { archiveKinds } from '../../core/fleet/lists/registry.ts';
import { partHeader } from '../../core/platform/cells.ts';
import { config } from '../../core/platform/config.ts';
import { checksum } from '../../core/platform/crypto.ts';
import {
  type Database,
  refuseUnless,
  type Statements,
  transaction,
} from '../../core/platform/db/database.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { deletions } from '../../core/platform/db/schema/jobs.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { invalid, Refusal } from '../../core/platform/errors.ts';
import { leaseMs } from '../../core/platform/jobs/lease.ts';
import { resumeWebhooks, stopWebhooks } from '../../core/webhooks/remove.ts';
import { bucketOf, folderOf } from '../../extras/archive/bucket.ts';
import { evidenceFolder } from '../../extras/evidence/evidence.ts';
import { exportFolder } from '../../extras/exports/files.ts';
import { provenDomains } from '../../extras/single-sign-on/single-sign-on.ts';
import { removePeople } from '../../people/people.ts';
import type { NewMove } from '../api/moves.ts';
import { countRows, nextRows } from '../deletion/rows.ts';
import { removeCopy } from '../deletion/run.ts';
import { tables } from '../deletion/tables.ts';
import type { Account, Move, Offer, Part, Rows } from './part.ts';
import { decodePart, encodePart, findMove, forgetMove, saveMove } from './part.ts';

/**
 * Makes a step of a move to another cell. Returns how it stands; or for the router the part that
 * the other cell does next, which a later call says is `done`. Any call may be lost or repeated.
 * @throws Refusal: invalid, with what to do; unavailable, when somebody else has made this step
 */
export async function continueMove(
  env: Env,
  id: string,
  { to, cancel, done }: NewMove,
): Promise<Move | Response> {
  if (!done && !cancel)
    throw invalid('Accounts move through a router: there is none in front of this cell');
  const did = done?.part ? decodePart(done.part) : undefined;
  const now = await findLeaving(env, id);
  let move = now ?? (await newMove(env, id, to, cancel));
  if (!now && move.state !== 'none') return move;
  if (move.to !== to)
    throw invalid(
      `The account is being moved to ${move.to}. Cancel that first, or wait for its end.`,
    );
  if (now && cancel && !['switching', 'cancelling'].includes(now.state))
    move = await goTo(env, now, { ...now, state: 'cancelling' });
  else if (did && JSON.stringify(did.now) === JSON.stringify(now)) {
    const problem = done?.problem ?? null;
    if (problem && !now) return { ...move, state: 'cancelled', problem };
    const next = now ? did.next : { ...did.next, since: Date.now() };
    move = await goTo(env, now, problem ? { ...move, state: 'cancelling', problem } : next);
  }
  // Invocations of before may still change rows.
  const waitMs = move.state === 'draining' ? move.since + leaseMs - Date.now() : 0;
  if (waitMs > 0) await scheduler.wait(Math.min(waitMs, 1_000));
  const isOver = ['done', 'cancelled'].includes(move.state);
  if (!done || done.isLast || isOver || waitMs > 0) return move;
  const { body, ...part } = await nextPart(env, move);
  const stored = move.state === 'none' ? null : move;
  return new Response(body instanceof ReadableStream ? body : JSON.stringify(body), {
    headers: { [partHeader]: encodePart({ from: config(env).cell, now: stored, ...part }) },
  });
}

/** How a move stands, or how long one would take at most. @throws Refusal: invalid, moved */
export async function showMove(env: Env, id: string): Promise<Move> {
  const { cell } = await accountOf(env, id);
  if (cell) throw new Refusal({ kind: 'moved', cells: [cell] });
  return (await findLeaving(env, id)) ?? unmoved(env, id);
}

/** The move of an account that leaves this cell; null if there is none. */
async function findLeaving(env: Env, id: string): Promise<Move | null> {
  const move = await findMove(env, id);
  return move && move.state !== 'arriving' ? move : null;
}

/** A move that may begin, or how it has ended. @throws Refusal: invalid */
async function newMove(env: Env, id: string, to: string, cancel: boolean): Promise<Move> {
  const { cell, status } = await accountOf(env, id);
  if (cell && (cancel || cell !== to))
    throw invalid(`The account lives in ${cell} by now. Move it from there.`);
  const move = { ...(await unmoved(env, id)), to };
  if (cancel) return { ...move, state: 'cancelled' };
  if (to === (cell ?? config(env).cell)) return { ...move, state: 'done' };
  if (status === 'active') return move;
  throw invalid('The account is suspended. Activate it before you move it.');
}

const rowsPerSecond = 3_000;

/** A move that has not begun, with how many rows there are, but for notifications. */
async function unmoved(env: Env, accountId: string): Promise<Move> {
  const counts = await countRows(env, accountId);
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const seconds = Math.ceil(leaseMs / 1000 + rows / rowsPerSecond);
  const begins = { id: newId(), since: Date.now(), at: 0, after: null, copied: 0, problem: null };
  return { accountId, to: '', state: 'none', rows, seconds, ...begins };
}

/** @throws Refusal: invalid, for an unknown account */
async function accountOf(env: Env, id: string): Promise<Account> {
  const db = openDatabase(env);
  const which = and(eq(accounts.id, id), ne(accounts.id, deletedAccountId));
  const [found] = await transaction(db, db.select().from(accounts).where(which));
  if (!found) throw invalid('Unknown account');
  return found;
}

/** The statement that refuses an account that cannot move. */
function refuseUnlessMovable(db: Database, id: string) {
  const active = and(eq(accounts.id, id), eq(accounts.status, 'active'));
  const deleted = db.select().from(deletions).where(eq(deletions.accountId, id));
  return refuseUnless(
    db,
    and(exists(db.select().from(accounts).where(active)), not(exists(deleted))),
    'Something of this account is being deleted. Move it once that is done: see fleet deletion list',
  );
}

/** Moves on, unless somebody else has from there. The account is suspended from begin to end. */
async function goTo(env: Env, now: Move | null, next: Move): Promise<Move> {
  const db = openDatabase(env);
  const { accountId: id, state, to } = next;
  const also: { [state in Move['state']]?: () => Statements } = {
    draining: () => [
      refuseUnlessMovable(db, id),
      stopWebhooks(db, id, Date.now()),
      setAccount(db, id, { status: 'moving' }),
    ],
    cancelling: () => [setAccount(db, id, { status: 'active' }), resumeWebhooks(db, id)],
    cancelled: () => forgetMove(db, id),
    done: () => [
      removeCopy(db, id),
      setAccount(db, id, { status: 'moved', cell: to, name: '' }),
      removePeople(db, id),
      forgetMove(db, id),
    ],
  };
  await transaction(db, [saveMove(db, now, next), also[state]?.()]);
  return next;
}

type NextPart = Omit<Part, 'from' | 'now'> & { body: object | null };

/** What the other cell does next: the account is active in one cell, or in none. */
async function nextPart(env: Env, move: Move): Promise<NextPart> {
  const { accountId: id, state } = move;
  const to = (state: Move['state']): Move => ({ ...move, state });
  if (state === 'none') return { task: 'open', next: to('draining'), body: await offerOf(env, id) };
  if (state === 'cancelling') return { task: 'clear', next: to('cancelled'), body: null };
  if (state === 'switching')
    return { task: 'activate', next: to('done'), body: await accountOf(env, id) };
  const copied = await copyPart(env, move);
  return copied ?? { task: 'compare', next: to('switching'), body: await countRows(env, id) };
}

/** What the other cell looks at, whether it can take the account, before anything stops. */
async function offerOf(env: Env, id: string): Promise<Offer> {
  const db = openDatabase(env);
  await transaction(db, refuseUnlessMovable(db, id));
  const account = await accountOf(env, id);
  const domains = await provenDomains(env, id);
  return { account, keys: await keySums(env), hasBucket: bucketOf(env) !== undefined, domains };
}

/** The ids of ENCRYPTION_KEYS, each with what shows that another cell has the same key. */
export const keySums = (env: Env): Promise<string[]> =>
  Promise.all(
    config(env).encryptionKeys.map(
      async (key) => `${key.id} ${await checksum([key], 'move', key.id)}`,
    ),
  );

const rowsPerPart = 250;

/** The next rows or file, which nothing changes; undefined after the last. */
async function copyPart(env: Env, move: Move): Promise<NextPart | undefined> {
  const { accountId } = move;
  const bucket = bucketOf(env);
  const archived = archiveKinds.map(({ name }) => folderOf({ kind: name, accountId }));
  const places = [...tables, exportFolder(accountId), evidenceFolder(accountId), ...archived];
  for (let { at, after } = move; ; ) {
    const from = places[at];
    if (!from) return undefined;
    if (typeof from === 'string') {
      const startAfter = after ? { startAfter: String(after[0]) } : {};
      const list = await bucket?.list({ prefix: from, limit: 1, ...startAfter });
      const key = list?.objects[0]?.key;
      [at, after] = key ? [at, [key]] : [at + 1, null];
      const file = key && (await bucket?.get(key));
      if (!file) continue; // after the last one, or deleted meanwhile
      const md5 = file.etag.includes('-') ? null : file.etag; // no checksum, if it came in parts
      const next: Move = { ...move, state: 'copying files', at, after };
      return { task: 'file', next, body: file.body, file: { key, md5 } };
    }
    const { rows, next: last } = await nextRows(env, from, accountId, after, rowsPerPart);
    [at, after] = last ? [at, last] : [at + 1, null];
    if (!rows[0]) continue;
    const columns = Object.keys(rows[0]);
    const values = rows.map((row) => columns.map((column) => row[column]));
    const body: Rows = { table: from.name, columns, rows: values };
    const copied = move.copied + rows.length;
    return { task: 'copy', next: { ...move, state: 'copying', at, after, copied }, body };
  }
}
