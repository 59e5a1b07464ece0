import { sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import {
  type AccountRow,
  findMove,
  forgetMove,
  freeze,
  isAt,
  leave,
  type Move,
  type MoveState,
  refuseWhatCannotMove,
  saveMove,
  thaw,
} from '../../accounts/moving.ts';
import { nobody } from '../../accounts/owner.ts';
import { config } from '../../platform/config.ts';
import { read, refuseUnless, transaction } from '../../platform/db/database.ts';
import { beingMoved } from '../../platform/db/guard.ts';
import { newId } from '../../platform/db/ids.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import { leaseMs } from '../../platform/jobs/lease.ts';
import { listAbandoned } from '../../webhooks/deliveries/send/first-claim.ts';
import { claimedUntilOf } from '../../webhooks/deliveries/send/in-flight.ts';
import { resumeWebhooks, stopWebhooks } from '../../webhooks/remove.ts';
import type { Arrival, MoveProgress, NewMove } from '../api/moves.ts';
import { bytesOf, type Cursor, countOf, derived, movedTables, nextRows } from '../deletion/rows.ts';
import { removeCopy } from '../deletion/run.ts';
import { keySums } from './arrive.ts';
import { fileAfter } from './files.ts';

/** Where a move goes on, or how it ends. */
type Place = { state: MoveState | 'done' | 'cancelled'; cursor?: Cursor; copied?: number };

/** Where it goes next, once the other cell has done what is asked for; undefined while there is something to wait for. */
type Next = { to: Place; ask?: Omit<Arrival, 'move' | 'from'>; file?: R2Object } | undefined;

const steps: Record<MoveState, (env: Env, move: Move, cursor: Cursor) => Promise<Next>> = {
  opening: async (env, { accountId }) => {
    const hasFiles = (await fileAfter(env, accountId, '')) !== undefined;
    const { account } = await accountOf(env, accountId);
    return { ask: { task: 'open', account, keys: await keySums(env), hasFiles }, to: { state: 'draining' } };
  },
  /** Waits until no call to a receiver, no pull and no job of before is under way. */
  async draining(env, move) {
    const leftMs = Math.max(await workEndsAt(env, move), move.since + quietMs) - Date.now();
    if (leftMs > 0) return void (await scheduler.wait(Math.min(leftMs, 250)));
    await listAbandoned(openDatabase(env), Date.now());
    return { to: { state: 'copying' } };
  },
  copying: (env, move, cursor) => chunk(env, move, cursor, 'copy', 'comparing'),
  comparing: (env, move, cursor) => chunk(env, move, cursor, 'compare', 'copying files'),
  async 'copying files'(env, { accountId }, cursor) {
    const file = await fileAfter(env, accountId, cursor.file ?? '');
    if (!file) return { to: { state: 'switching' } };
    return { file, to: { state: 'copying files', cursor: { file: file.key } } };
  },
  /** So first both cells can be read, then the other one alone; and never can both be written. */
  switching: async (env, { accountId }) => ({
    ask: { task: 'activate', account: (await accountOf(env, accountId)).account },
    to: { state: 'done' },
  }),
  cancelling: async () => ({ ask: { task: 'clear' }, to: { state: 'cancelled' } }),
  arriving: async (_, { cell }) => {
    throw invalid(`The account is on its way here. Ask ${cell}.`);
  },
  deleting: async () => undefined,
};

/** By then the background work of requests from before has ended. */
const quietMs = 1_000;

const undecided: MoveState[] = ['opening', 'draining', 'copying', 'comparing', 'copying files'];

/**
 * Makes a step of a move to another cell, beginning it if need be: returns what the other cell has to do next, which a
 * later call says is `done`. With `cancel`, cancels it. Any call may be lost or repeated.
 *
 * @throws Refusal: invalid, with what to do; unavailable, when somebody else has made this step
 */
export async function continueMove(env: Env, accountId: string, asked: NewMove): Promise<MoveProgress> {
  const { to, cancel, done } = asked;
  if (!done && !cancel) throw invalid('Accounts move through a router: there is none in front of this cell');
  const move = (await findMove(env, accountId)) ?? (cancel ? undefined : await begin(env, accountId, to));
  if (move && move.cell !== to && !['arriving', 'deleting'].includes(move.state))
    throw invalid(`The account is being moved to ${move.cell}. Cancel that first, or wait for its end.`);
  if (move && cancel && undecided.includes(move.state)) await goTo(env, move, { state: 'cancelling' });
  else if (move && done?.step === stepOf(move)) {
    const place: Place = done.problem === null ? JSON.parse(done.next) : { state: 'cancelling' };
    await goTo(env, move, place, done.problem);
    if (place.state === 'cancelled') return { move: shown({ ...move, state: place.state }) };
  }
  for (;;) {
    const now = await findMove(env, accountId);
    if (!now || now.state === 'deleting') return { move: await ended(env, accountId, asked) };
    const next = await steps[now.state](env, now, JSON.parse(now.cursor));
    if (!next?.ask && !next?.file) {
      if (!next) return { move: shown(now) };
      await goTo(env, now, next.to);
      continue;
    }
    const { ask, file } = next;
    const call = { step: stepOf(now), next: JSON.stringify(next.to) };
    const body = ask && JSON.stringify({ ...ask, move: now.id, from: config(env).cell });
    const what = file ? { file: { key: file.key, md5: file.etag, move: now.id } } : { body };
    return { move: shown(now), ask: { ...call, ...what } };
  }
}

const stepOf = ({ id, state, cursor }: Move): string => `${id} ${state} ${cursor}`;

/** @throws Refusal: invalid, for an account that cannot move; nothing has changed then */
async function begin(env: Env, accountId: string, to: string): Promise<Move | undefined> {
  const { status, cell } = await accountOf(env, accountId);
  if (cell || to === config(env).cell) return undefined;
  if (status === 'suspended') throw invalid('The account is suspended. Activate it before you move it.');
  const { rows: total } = await estimateMove(env, accountId);
  const state = 'opening' as const;
  const move = { accountId, id: newId(), cell: to, state, cursor: '{}', total, copied: 0, problem: null };
  const db = openDatabase(env);
  const isNew = sql`not exists (select 1 from moves where account_id = ${accountId})`;
  await transaction(db, [
    ...refuseWhatCannotMove(db, accountId),
    refuseUnless(db, isNew, beingMoved),
    saveMove(db, { ...move, since: Date.now() }),
  ]);
  return findMove(env, accountId);
}

/** Moves on, unless somebody else has from there. */
async function goTo(env: Env, move: Move, place: Place, problem: string | null = null): Promise<void> {
  const db = openDatabase(env);
  const { accountId, cell } = move;
  const { state, cursor = {}, copied = 0 } = place;
  const also: { [name in Place['state']]?: () => BatchItem<'sqlite'>[] } = {
    draining: () => [...freeze(db, accountId), ...stopWebhooks(db, accountId, Date.now())],
    cancelling: () => (move.state === 'opening' ? [] : [thaw(db, accountId), resumeWebhooks(db, accountId)]),
    done: () => [removeCopy(db, accountId), ...leave(db, accountId, cell)],
  };
  const left = { ...move, cursor: JSON.stringify(cursor), copied: move.copied + copied, problem };
  const next = { ...left, state: state === 'done' ? 'deleting' : state, since: Date.now() };
  await transaction(db, [
    refuseUnless(db, isAt(move), beingMoved),
    ...(also[state]?.() ?? []),
    ...(next.state === 'cancelled'
      ? [forgetMove(db, accountId)]
      : [saveMove(db, { ...next, state: next.state })]),
  ]);
}

/** How a move stands; or, of an account that is not being moved, how long a move would take at most. */
export async function showMove(env: Env, accountId: string): Promise<MoveProgress> {
  const move = await findMove(env, accountId);
  if (move && move.state !== 'arriving' && move.state !== 'deleting') return { move: shown(move) };
  const { cell } = await accountOf(env, accountId);
  if (cell) throw new Refusal({ kind: 'moved', cells: [cell] });
  return { move: null, estimate: await estimateMove(env, accountId) };
}

type Shown = NonNullable<MoveProgress['move']>;

const shown = ({
  accountId,
  cell,
  state,
  total,
  copied,
  problem,
}: Omit<Move, 'state'> & { state: string }) => ({
  accountId,
  to: cell,
  state: state as Shown['state'], // the others are not shown
  rows: total,
  copied,
  problem,
});

/** How a move has ended that is over. @throws Refusal: invalid, when that is not as it was asked for */
async function ended(env: Env, accountId: string, { to, cancel }: NewMove): Promise<Shown> {
  const { cell } = await accountOf(env, accountId);
  if (cell && (cancel || cell !== to))
    throw invalid(`The account lives in ${cell} by now. Move it from there.`);
  return {
    accountId,
    to,
    state: to === (cell ?? config(env).cell) ? 'done' : 'cancelled',
    rows: 0,
    copied: 0,
    problem: null,
  };
}

/** @throws Refusal: invalid, for an unknown account */
async function accountOf(env: Env, accountId: string) {
  const [found] = await read<AccountRow & { status: string; cell: string | null }>(openDatabase(env))`
    select name, units, created_at as createdAt, status, cell from accounts
    where id = ${accountId} and id <> ${nobody}`;
  if (!found) throw invalid('Unknown account');
  const { status, cell, ...account } = found;
  return { status, cell, account };
}

/** How many rows a chunk has, and where they are too large: a row has 100 KB at most. */
const rowsPerChunk = 1000;
const maxBytes = 4_000_000;
const fewRows = 20;

/** The next rows that there are. Nothing changes them meanwhile, and copying them twice does no harm. */
async function chunk(
  env: Env,
  move: Move,
  { table: at = 0, after }: Cursor,
  task: 'copy' | 'compare',
  then: MoveState,
): Promise<Next> {
  const tables = (await movedTables(env)).filter(({ name }) => task === 'copy' || !derived.includes(name));
  for (let place: Cursor = { table: at, ...(after && { after }) }; ; ) {
    const table = tables[place.table ?? 0];
    if (!table) return { to: { state: then } };
    const page = (limit: number) => nextRows(env, table, move.accountId, place.after, limit);
    let { rows, next } = await page(rowsPerChunk);
    if (bytesOf(JSON.stringify(rows)) > maxBytes) ({ rows, next } = await page(fewRows));
    place = next ? { ...place, after: next } : { table: (place.table ?? 0) + 1 };
    if (rows.length === 0) continue;
    const { name, columns } = table;
    const values = rows.map((row) => columns.map((column) => row[column] ?? null));
    return {
      ask: { task, table: name, columns, rows: values },
      to: { state: move.state, cursor: place, copied: task === 'copy' ? rows.length : 0 },
    };
  }
}

/** Until when calls, pulls and jobs of before the move are claimed (milliseconds since 1970); 0 if none is. */
async function workEndsAt(env: Env, { accountId, since }: Move): Promise<number> {
  const deliveries = await claimedUntilOf(env, accountId);
  const [claimed] = await read<{ until: number | null }>(openDatabase(env))`
    select max(until) as until from (
      select p.claimed_until as until from connections c cross join pulls p on p.connection_id = c.id
      where c.account_id = ${accountId} and p.claim is not null
      union all
      select leased_until from jobs where holder is not null and leased_until <= ${since + quietMs + leaseMs})`;
  return Math.max(deliveries ?? 0, claimed?.until ?? 0);
}

/** How many rows are copied and compared per second, and how long a claim can delay that. */
const rowsPerSecond = 1_500;
const longestPauseSeconds = 45;

/** How many rows an account has, but for notifications, and for how many seconds at most its writes will be refused. */
async function estimateMove(env: Env, accountId: string): Promise<{ rows: number; seconds: number }> {
  const counts = (await movedTables(env)).flatMap((table) => countOf(table, accountId) ?? []);
  const [found] = await read<{ rows: number }>(openDatabase(env))`
    select ${sql.join(counts, sql` + `)} as rows`;
  const rows = found?.rows ?? 0;
  return { rows, seconds: longestPauseSeconds + Math.ceil(rows / rowsPerSecond) };
}
