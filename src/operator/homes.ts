import { type Account, listAccounts } from '../accounts/accounts.ts';
import { type Entry, listAllAudit } from '../accounts/audit/list.ts';
import { nobody } from '../accounts/owner.ts';
import { change, openDatabase, transaction } from '../platform/db/database.ts';
import type { Slice, SliceQuery } from '../platform/db/slices.ts';
import { dayMs } from '../platform/durations.ts';
import { timestamp } from '../platform/fields.ts';
import { askHomes } from '../platform/homes/each.ts';
import { hasHomes, homesOf, nameOf } from '../platform/homes/homes.ts';
import { maxAccountsCounted } from './api/operation.ts';
import type { Home } from './api/service.ts';
import { type Deletion, listDeletions, maxDeletionsListed } from './deletion/run.ts';
import { earlierSize, sizeOf } from './health/service.ts';

/** A slice of the accounts of all homes, oldest first. */
export const listAllAccounts = (env: Env, slice: SliceQuery): Promise<Slice<Account>> =>
  merged(
    env,
    slice,
    listAccounts,
    (a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1),
    ({ createdAt, id }) => ({ sort: createdAt, id }),
  );

/** A slice of the audit log of all accounts in all homes, newest first. */
export const listEverybodysAudit = (env: Env, slice: SliceQuery): Promise<Slice<Entry>> =>
  merged(
    env,
    slice,
    listAllAudit,
    (a, b) => b.at - a.at || (a.accountId > b.accountId ? -1 : a.accountId < b.accountId ? 1 : b.seq - a.seq),
    ({ at, accountId, seq }) => ({ sort: at, id: `${accountId}/${seq}` }),
  );

/** Unfinished deletions of all homes, those due first before others; at most 1,000. */
export async function listAllDeletions(env: Env): Promise<Deletion[]> {
  const found = await askHomes(env, listDeletions);
  const all = found.flatMap(([, deletions]) => deletions);
  return all.toSorted((a, b) => a.dueAt - b.dueAt).slice(0, maxDeletionsListed);
}

/** Merges the homes' slices after the same position. @throws Refusal: unavailable, when a home does not respond */
async function merged<T>(
  env: Env,
  slice: SliceQuery,
  list: (home: Env, slice: SliceQuery) => Promise<Slice<T>>,
  order: (a: T, b: T) => number,
  position: (item: T) => { sort: number; id: string },
): Promise<Slice<T>> {
  if (!hasHomes(env)) return list(env, slice);
  const parts = await Promise.all([...homesOf(env).values()].map((home) => list(home, slice)));
  const all = parts.flatMap(({ items }) => items).toSorted(order);
  const items = all.slice(0, slice.limit);
  const last = items.at(-1);
  const more = all.length > items.length || parts.some(({ next }) => next);
  return { items, ...(more && last && { next: position(last) }) };
}

/**
 * All homes, asked in parallel. Each reads two rows for each of at most 10,000 accounts, and one for its size.
 *
 * @throws Refusal: unavailable, when the only home does not respond
 */
export async function listHomes(env: Env, now = Date.now()): Promise<Home[]> {
  const asked = new Map(await askHomes(env, (home) => look(home, now)));
  const unknown = { accounts: null, bytes: null, share: null, eventsPerDay: null, fullOn: null };
  return [...homesOf(env)].map(([name, home]) => asked.get(home) ?? { name, ...unknown });
}

type Counted = { accounts: number; events: number };

async function look(env: Env, now: number): Promise<Home> {
  const db = openDatabase(env);
  const yesterday = (Math.floor(now / dayMs) - 1) * 24;
  const counted = change(db)`
    select count(*) as accounts,
      coalesce(sum(k.risk_1 + k.risk_2 + k.risk_3 + k.risk_4 + k.risk_5), 0) as events
    from (select id from accounts where id <> ${nobody} and home is null limit ${maxAccountsCounted}) a
    left join event_counts k on k.account_id = a.id and k.hours = 24 and k.start = ${yesterday}`;
  const [{ results, meta }, [earlier]] = await transaction(db, [counted, earlierSize(db, now)], {
    repeatable: true,
  });
  const [{ accounts, events } = { accounts: 0, events: 0 }] = results as Counted[]; // as the statement selects
  const { bytes, share, daysLeft } = sizeOf(meta.size_after, now, earlier);
  const fullOn = daysLeft === null ? null : timestamp(now + daysLeft * dayMs).slice(0, 10);
  return { name: nameOf(env), accounts, eventsPerDay: events, bytes, share, fullOn };
}
