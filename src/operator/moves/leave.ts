import { sql } from 'drizzle-orm';
import { nobody } from '../../accounts/accounts.ts';
import {
  type AccountRow,
  forgetMove,
  leave,
  refuseUnlessMovable,
  setAccount,
} from '../../accounts/moving.ts';
import { provenDomains } from '../../accounts/single-sign-on.ts';
import { bucketOf, folderOf } from '../../fleet/archive/bucket.ts';
import { evidenceFolder } from '../../fleet/evidence/evidence.ts';
import { exportFolder } from '../../fleet/exports/files.ts';
import { archiveKinds } from '../../fleet/lists/registry.ts';
import { partHeader } from '../../platform/cells.ts';
import { config } from '../../platform/config.ts';
import { checksum } from '../../platform/crypto.ts';
import { read, transaction } from '../../platform/db/database.ts';
import { newId } from '../../platform/db/ids.ts';
import { readRows } from '../../platform/db/rows.ts';
import { accounts } from '../../platform/db/schema/accounts.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { invalid, Refusal } from '../../platform/errors.ts';
import { leaseMs } from '../../platform/jobs/lease.ts';
import { claimedUntilOf } from '../../webhooks/deliveries/send/in-flight.ts';
import { resumeWebhooks, stopWebhooks } from '../../webhooks/remove.ts';
import { copying, type NewMove } from '../api/moves.ts';
import { countOf, nextRows } from '../deletion/rows.ts';
import { removeCopy } from '../deletion/run.ts';
import { tables } from '../deletion/tables.ts';
import { decodePart, encodePart, findMove, type Move, type Part, saveMove } from './part.ts';

/**
 * Makes a step of a move to another cell. Returns how it stands; or for the router the part that
 * the other cell does next, which a later call says is `done`. Any call may be lost or repeated.
 * @throws Refusal: invalid, with what to do; unavailable, when somebody else has made this step
 */
export async function continueMove(env: Env, id: string, asked: NewMove): Promise<Move | Response> {
  const { to, cancel, done } = asked;
  if (!done && !cancel)
    throw invalid('Accounts move through a router: there is none in front of this cell');
  const did = done?.part ? decodePart(done.part) : undefined;
  const problem = done?.problem ?? null;
  let move = await findMove(env, id);
  if (!move || isElsewhere(move)) {
    const next = {
      ...(await unmoved(env, id)),
      to,
      problem,
      state: await stateOf(env, id, asked, move),
    };
    if (next.state !== 'draining') return next;
    if (did?.task !== 'open') return openingPart(env, next);
    if (problem) return { ...next, state: 'cancelled' };
    move = await goTo(env, null, { ...next, id: did.next.id });
  } else if (move.to !== to) {
    throw invalid(
      `The account is being moved to ${move.to}. Cancel that first, or wait for its end.`,
    );
  } else if (cancel && !['switching', 'cancelling'].includes(move.state)) {
    move = await goTo(env, move, { ...move, state: 'cancelling' });
  } else if (did && JSON.stringify(did.now) === JSON.stringify(move)) {
    move = await goTo(env, move, problem ? { ...move, state: 'cancelling', problem } : did.next);
  }
  if (move.state === 'draining' && (await isQuiet(env, move)))
    move = await goTo(env, move, { ...move, state: 'copying' });
  const waits = ['draining', 'done', 'cancelled'].includes(move.state);
  return !done || done.isLast || waits ? move : nextPart(env, move);
}

/** How a move stands, or how long one would take at most. @throws Refusal: moved */
export async function showMove(env: Env, accountId: string): Promise<Move> {
  const move = await findMove(env, accountId);
  if (move && !isElsewhere(move)) return move;
  const { cell } = await accountOf(env, accountId);
  if (cell) throw new Refusal({ kind: 'moved', cells: [cell] });
  return unmoved(env, accountId);
}

const isElsewhere = ({ state }: Move): boolean => state === 'arriving' || state === 'done';

/** How many rows are copied and compared per second, and how long a claim can delay that. */
const rowsPerSecond = 1_500;
const longestPauseSeconds = 45;

/** A move that has not begun, with how many rows there are, but for notifications. */
async function unmoved(env: Env, accountId: string): Promise<Move> {
  const counts = tables.flatMap((table) => countOf(table, accountId) ?? []);
  const [{ rows } = { rows: 0 }] = await read<{ rows: number }>(openDatabase(env))`
    select ${sql.join(counts, sql` + `)} as rows`;
  const seconds = longestPauseSeconds + Math.ceil(rows / rowsPerSecond);
  const begins = { id: newId(), since: Date.now(), at: 0, after: null, copied: 0, problem: null };
  return { accountId, to: '', state: 'none', rows, seconds, ...begins };
}

/** How a move begins or has ended that is not under way. @throws Refusal: invalid */
async function stateOf(
  env: Env,
  id: string,
  { to, cancel }: NewMove,
  move?: Move,
): Promise<Move['state']> {
  const { cell, status } = await accountOf(env, id);
  if (move?.state === 'arriving') throw invalid(`The account is on its way here. Ask ${cell}.`);
  if (cell && (cancel || cell !== to))
    throw invalid(`The account lives in ${cell} by now. Move it from there.`);
  if (cancel) return 'cancelled';
  if (to === (cell ?? config(env).cell)) return 'done';
  if (status === 'suspended')
    throw invalid('The account is suspended. Activate it before you move it.');
  return 'draining';
}

/** @throws Refusal: invalid, for an unknown account */
async function accountOf(env: Env, id: string): Promise<AccountRow> {
  const [found] = await readRows(openDatabase(env), accounts)`where id = ${id} and id <> ${nobody}`;
  if (!found) throw invalid('Unknown account');
  return found;
}

/** The ids of HEADER_KEYS, each with what shows that another cell has the same key. */
export const keySums = (env: Env): Promise<string[]> =>
  Promise.all(
    config(env).headerKeys.map(async (key) => `${key.id} ${await checksum([key], 'move', key.id)}`),
  );

/** What the other cell needs to know: `domains` are what is unique among accounts. */
export type Offer = { account: AccountRow; keys: string[]; hasBucket: boolean; domains: string[] };

/** Has the other cell look whether it can take the account, before any write is refused. */
async function openingPart(env: Env, next: Move): Promise<Response> {
  const db = openDatabase(env);
  await transaction(db, refuseUnlessMovable(db, next.accountId));
  const account = await accountOf(env, next.accountId);
  const domains = await provenDomains(env, next.accountId);
  const offer: Offer = {
    account,
    keys: await keySums(env),
    hasBucket: bucketOf(env) !== undefined,
    domains,
  };
  return respond(env, { task: 'open', now: null, next }, JSON.stringify(offer));
}

/** Moves on, unless somebody else has from there. */
async function goTo(env: Env, now: Move | null, next: Move): Promise<Move> {
  const db = openDatabase(env);
  const { accountId, state, to } = next;
  await transaction(db, [
    saveMove(db, now, next),
    now ? undefined : [refuseUnlessMovable(db, accountId), stopWebhooks(db, accountId, Date.now())],
    now ? undefined : setAccount(db, accountId, { status: 'moving' }),
    state === 'cancelling'
      ? [setAccount(db, accountId, { status: 'active' }), resumeWebhooks(db, accountId)]
      : undefined,
    state === 'done' ? [removeCopy(db, accountId), leave(db, accountId, to)] : undefined,
    state === 'cancelled' ? forgetMove(db, accountId) : undefined,
  ]);
  return next;
}

/** The part for a move's state: first both cells can be read, then the other; both are never written. */
async function nextPart(env: Env, now: Move): Promise<Response> {
  if (now.state === 'cancelling')
    return respond(env, { task: 'clear', now, next: { ...now, state: 'cancelled' } }, 'null');
  if (now.state !== 'switching')
    return (
      (await copyPart(env, now)) ??
      nextPart(env, await goTo(env, now, { ...now, state: 'switching' }))
    );
  const account = JSON.stringify(await accountOf(env, now.accountId));
  return respond(env, { task: 'activate', now, next: { ...now, state: 'done' } }, account);
}

const respond = (env: Env, what: Omit<Part, 'from'>, body: BodyInit): Response =>
  new Response(body, {
    headers: { [partHeader]: encodePart({ ...what, from: config(env).cell }) },
  });

const rowsPerPart = 250;

/** Computed from others, and may change while the account moves. */
const derived = ['event_counting', 'event_counts', 'event_counts_due'];

/** The next rows or file, which nothing changes; undefined after the last. */
async function copyPart(env: Env, now: Move): Promise<Response | undefined> {
  const { accountId } = now;
  const compared = tables.filter(({ name }) => !derived.includes(name));
  const folders = archiveKinds.map(({ name }) => folderOf({ kind: name, accountId }));
  const lists = [
    tables,
    compared,
    [exportFolder(accountId), evidenceFolder(accountId), ...folders],
  ];
  const all = lists.flatMap((list, i) =>
    list.map((from) => ({ from, state: copying[i] ?? now.state })),
  );
  for (let { at, after } = now; ; ) {
    const { from, state } = all[at] ?? {};
    if (!from || !state) return undefined;
    if (typeof from === 'string') {
      const file = await fileAfter(env, from, after);
      [at, after] = file ? [at, [file.key]] : [at + 1, null];
      if (!file) continue;
      const { key, etag } = file;
      const md5 = etag.includes('-') ? null : etag; // of a file that came in parts it is no checksum
      return respond(
        env,
        { task: 'file', now, next: { ...now, state, at, after }, file: { key, md5 } },
        file.body,
      );
    }
    const { rows, next: last } = await nextRows(env, from, accountId, after, rowsPerPart);
    [at, after] = last ? [at, last] : [at + 1, null];
    if (rows.length === 0) continue;
    const task = state === 'copying' ? 'copy' : 'compare';
    // When a token was last used is also recorded of readers, meanwhile.
    const columns = Object.keys(rows[0] ?? {}).filter(
      (column) => task === 'copy' || column !== 'last_used_at',
    );
    const values = rows.map((row) => columns.map((column) => row[column]));
    const copied = now.copied + (task === 'copy' ? rows.length : 0);
    const body = JSON.stringify({ table: from.name, columns, rows: values });
    return respond(env, { task, now, next: { ...now, state, at, after, copied } }, body);
  }
}

async function fileAfter(env: Env, prefix: string, after: unknown[] | null) {
  const bucket = bucketOf(env);
  const list = await bucket?.list({
    prefix,
    limit: 1,
    ...(after && { startAfter: String(after[0]) }),
  });
  const [first] = list?.objects ?? [];
  const file = first && (await bucket?.get(first.key));
  if (first && !file) throw new Refusal({ kind: 'unavailable', retryAfter: 1 }); // deleted since it was listed
  return file;
}

/** By then the background work of requests from before has ended. */
const quietMs = 1_000;

/** Whether no call, pull or job of before is under way; waits a moment. */
async function isQuiet(env: Env, { accountId, since }: Move): Promise<boolean> {
  const db = openDatabase(env);
  const [claimed] = await read<{ until: number | null }>(db)`
    select max(until) as until from (
      select p.claimed_until as until from connections c cross join pulls p on p.connection_id = c.id
      where c.account_id = ${accountId} and p.claim is not null
      union all
      select leased_until from jobs where holder is not null and leased_until <= ${since + quietMs + leaseMs})`;
  const deliveries = await claimedUntilOf(env, accountId);
  const leftMs = Math.max(claimed?.until ?? 0, deliveries ?? 0, since + quietMs) - Date.now();
  if (leftMs > 0) await scheduler.wait(Math.min(leftMs, 250));
  return leftMs <= 0;
}
