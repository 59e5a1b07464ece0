import { and, eq, exists, ne, notExists, sql } from 'drizzle-orm';
import { deletedAccountId, setAccount } from '../../../core/accounts/accounts.ts';
import { bucketOf } from '../../../core/platform/bucket.ts';
import { partHeader } from '../../../core/platform/cells.ts';
import { config } from '../../../core/platform/config.ts';
import {
  type Database,
  refuseUnless,
  type Statements,
  transaction,
} from '../../../core/platform/db/database.ts';
import { newId } from '../../../core/platform/db/ids.ts';
import { accounts } from '../../../core/platform/db/schema/accounts.ts';
import { deletions } from '../../../core/platform/db/schema/jobs.ts';
import { openDatabase } from '../../../core/platform/db/system.ts';
import { invalid, Refusal } from '../../../core/platform/errors.ts';
import { leaseMs } from '../../../core/platform/jobs/lease.ts';
import { resumeWebhooks, stopWebhooks } from '../../../core/webhooks/remove.ts';
import { declared } from '../../../extras.ts';
import { countRows, nextRows } from '../../../operator/deletion/rows.ts';
import { removeCopy } from '../../../operator/deletion/run.ts';
import { tables } from '../../../operator/deletion/tables.ts';
import { removePeople } from '../../../people/people.ts';
import type { NewMove } from '../operations.ts';
import { moves } from '../tables.ts';
import {
  alike,
  decodePart,
  encodePart,
  type Move,
  type Offer,
  type Part,
  type Rows,
} from './part.ts';

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
  const { account, move: now } = await find(env, id);
  const { cell } = account;
  if (now.to === '') {
    if (cell && (cancel || cell !== to))
      throw invalid(`The account lives in ${cell} by now. Move it from there.`);
    if (cancel) return { ...now, to, state: 'cancelled' };
    if (to === (cell ?? config(env).cell)) return { ...now, to, state: 'done' };
  } else if (now.to !== to)
    throw invalid(
      `The account is being moved to ${now.to}. Cancel that first, or wait for its end.`,
    );
  const did = done?.part ? decodePart(done.part) : undefined;
  const problem = done?.problem ?? null;
  let move = now;
  if (now.to === '') move = await save(env, now, { ...now, to });
  else if (cancel && (now.state === 'none' || now.state === 'copying'))
    move = await save(env, now, { ...now, state: 'cancelling' });
  else if (did && JSON.stringify(did.now) === JSON.stringify(now))
    move = await save(env, now, problem ? { ...now, state: 'cancelling', problem } : did.next);
  if (!done || done.isLast || isOver(move)) return move;
  if (move.state !== 'copying' || move.since + leaseMs <= Date.now())
    return nextPart(env, account, move);
  await scheduler.wait(1_000); // invocations of before may still change rows
  return move;
}

/** How a move stands, or how many rows one would copy. @throws Refusal: invalid, moved */
export async function showMove(env: Env, id: string): Promise<Move> {
  const { account, move } = await find(env, id);
  if (account.cell) throw new Refusal({ kind: 'moved', cells: [account.cell] });
  return move;
}

const rowsPerSecond = 3_000;

/**
 * An account, and how its move stands; `to` is empty if nobody has asked for one.
 * @throws Refusal: invalid, for an unknown account
 */
async function find(env: Env, id: string) {
  const db = openDatabase(env);
  const found = await transaction(db, {
    accounts: db
      .select()
      .from(accounts)
      .where(and(eq(accounts.id, id), ne(accounts.id, deletedAccountId))),
    moves: db
      .select({ move: moves.move })
      .from(moves)
      .where(and(eq(moves.accountId, id), ne(moves.state, 'arriving'))),
  });
  const [account] = found.accounts;
  if (!account) throw invalid('Unknown account');
  if (found.moves[0]) return { account, move: JSON.parse(found.moves[0].move) as Move }; // as it was stored
  const rows = Object.values(await countRows(env, id)).reduce((sum, count) => sum + count, 0);
  const seconds = Math.ceil(leaseMs / 1000 + rows / rowsPerSecond);
  const shown = { accountId: id, to: '', state: 'none' as const, rows, seconds };
  const begins = { id: newId(), since: Date.now(), at: 0, after: null, copied: 0, problem: null };
  const move: Move = { ...shown, ...begins };
  return { account, move };
}

const isOver = ({ state }: Move) => state === 'done' || state === 'cancelled';

/** Moves on, unless somebody else has from there. The account is active in one cell, or in none. */
async function save(env: Env, now: Move, next: Move): Promise<Move> {
  const db = openDatabase(env);
  const { accountId, state } = next;
  const move = { ...next, since: state === now.state ? now.since : Date.now() };
  const row = { state, move: JSON.stringify(move) };
  const stored = db.select({ move: moves.move }).from(moves).where(eq(moves.accountId, accountId));
  const isAsRead = sql`(${stored}) is ${now.to === '' ? null : JSON.stringify(now)}`;
  await transaction(db, [
    refuseUnless(db, isAsRead, { kind: 'unavailable', retryAfter: 10 }),
    isOver(move)
      ? db.delete(moves).where(eq(moves.accountId, accountId))
      : db
          .insert(moves)
          .values({ accountId, ...row })
          .onConflictDoUpdate({ target: moves.accountId, set: row }),
    onChange(db, now, move),
  ]);
  return move;
}

/** What else changes in this cell as a move comes to its next state. */
function onChange(db: Database, now: Move, { accountId: id, state, to }: Move): Statements {
  if (now.to === '') return refuseUnlessMovable(db, id);
  if (state === 'copying' && now.state === 'none')
    return [
      refuseUnlessMovable(db, id),
      stopWebhooks(db, id, Date.now()),
      setAccount(db, id, { status: 'moving' }),
    ];
  if (state === 'cancelling' && now.state !== 'none')
    return [setAccount(db, id, { status: 'active' }), resumeWebhooks(db, id)];
  if (state !== 'done') return [];
  const left = { status: 'moved' as const, cell: to, name: '' };
  return [removeCopy(db, id), setAccount(db, id, left), removePeople(db, id)];
}

/** The statement that refuses an account that cannot move. */
function refuseUnlessMovable(db: Database, id: string) {
  const active = and(eq(accounts.id, id), eq(accounts.status, 'active'));
  const deleted = db.select().from(deletions).where(eq(deletions.accountId, id));
  return refuseUnless(
    db,
    and(exists(db.select().from(accounts).where(active)), notExists(deleted)),
    'Activate the account before you move it, and wait until nothing of it is being deleted: see fleet deletion list',
  );
}

/** The states in which the other cell has one thing to do, and those that follow. */
const following: { [state in Move['state']]?: Move['state'] } = {
  none: 'copying',
  switching: 'done',
  cancelling: 'cancelled',
};

/** What the other cell does next, for the router to pass on. */
async function nextPart(env: Env, account: Offer['account'], now: Move): Promise<Response> {
  const state = following[now.state];
  if (!state) {
    const copying = await nextCopy(env, now);
    return copying ?? nextPart(env, account, await save(env, now, { ...now, state: 'switching' }));
  }
  const unique = declared('unique').map(
    async ({ column, find }) => [column, await find(env, account.id)] as const,
  );
  const offer: Offer = {
    account,
    counts: await countRows(env, account.id),
    unique: Object.fromEntries(await Promise.all(unique)),
    hasBucket: bucketOf(env) !== undefined,
    alike: await alike(env),
  };
  return part(env, now, { ...now, state }, offer);
}

function part(env: Env, now: Move, next: Move, body: unknown, file?: Part['file']): Response {
  const header = encodePart({ from: config(env).cell, now, next, ...(file && { file }) });
  const sent = body instanceof ReadableStream ? body : JSON.stringify(body);
  return new Response(sent, { headers: { [partHeader]: header } });
}

const rowsPerPart = 250;

/** The next rows or file, which nothing changes; undefined after the last. */
async function nextCopy(env: Env, now: Move): Promise<Response | undefined> {
  const { accountId } = now;
  const bucket = bucketOf(env);
  const folders = declared('move').flatMap((move) => move.folders?.(accountId) ?? []);
  const places = [...tables, ...folders];
  for (let { at, after } = now; ; ) {
    const from = places[at];
    if (!from) return undefined;
    if (typeof from === 'string') {
      const list = await bucket?.list({ prefix: from, limit: 1, startAfter: String(after ?? '') });
      const key = list?.objects[0]?.key;
      [at, after] = key ? [at, [key]] : [at + 1, null];
      const file = key && (await bucket?.get(key));
      if (!file) continue; // after the last one, or deleted meanwhile
      const md5 = file.etag.includes('-') ? null : file.etag; // no checksum, if it came in parts
      return part(env, now, { ...now, at, after }, file.body, { key, md5 });
    }
    const { rows, next: last } = await nextRows(env, from, accountId, after, rowsPerPart);
    [at, after] = last ? [at, last] : [at + 1, null];
    if (rows.length === 0) continue;
    const body: Rows = { table: from.name, rows };
    const next = { ...now, at, after, copied: now.copied + rows.length };
    return part(env, now, next, body);
  }
}
