import { type Account, listAccounts } from '../../accounts/accounts.ts';
import { type Entry, listAllAudit } from '../../accounts/audit/list.ts';
import type { Slice, SliceQuery } from '../../platform/db/slices.ts';
import { askHomes } from '../../platform/homes/each.ts';
import { hasHomes, homesOf } from '../../platform/homes/homes.ts';
import { type Deletion, listDeletions, maxDeletionsListed } from '../deletion/state.ts';

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
