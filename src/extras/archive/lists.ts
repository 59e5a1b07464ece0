import { findItem } from '../../core/fleet/find.ts';
import type { List } from '../../core/fleet/lists/list.ts';
import { type ListQuery, readList } from '../../core/fleet/service.ts';
import { bucketOf } from '../../core/platform/bucket.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { type Page, readPage } from '../../core/platform/db/pages.ts';
import { timestamp } from '../../core/platform/fields.ts';
import type { ArchivedRow } from './archived.ts';
import { readPageAcross } from './pages.ts';

/** Reads a page of a list over D1 and the archive, if it has one. */
export function readAcross(env: Env, caller: Caller, query: ListQuery): Promise<Page> {
  const { list, all, values, ...page } = query;
  const bucket = bucketOf(env);
  if (!bucket || !list.archive) return readPage(env, caller, page);
  const { from = 0, to = Number.MAX_SAFE_INTEGER, descending = false } = page;
  return readPageAcross(
    { env, bucket, caller },
    {
      ...{ ...page, from, to, descending },
      archive: { kind: list.archive, all, filter: filterOf(list, values) },
    },
  );
}

/** Finds an item of a list by id; an archived one by its time in the list's order, too. */
export async function findAcross<T>(
  env: Env,
  caller: Caller,
  list: List<T>,
  id: string,
  at?: number,
): Promise<T | undefined> {
  const found = await findItem(env, caller, list, id);
  if (found !== undefined) return found;
  // Nothing of the future is archived.
  const isArchived = list.archive && bucketOf(env) && at !== undefined && at <= Date.now();
  return isArchived ? findAt(env, caller, list, id, at) : undefined;
}

/** Finds an item by its time, among the first 500 of that millisecond. */
async function findAt<T>(env: Env, caller: Caller, list: List<T>, id: string, at: number) {
  const query = { from: [timestamp(at)], to: [timestamp(at + 1)], limit: ['500'] };
  const { items } = await readList(
    env,
    caller,
    list,
    { connectionId: undefined, query },
    readAcross,
  );
  return items.find((item) => (item as { [key: string]: unknown })[list.id] === id); // an item of the list
}

/** A list's filters for archived rows, which have no index. */
function filterOf(list: List, values: ListQuery['values']) {
  const asked = Object.entries(list.filters).flatMap(([name, { field: key, passes }]) => {
    const value = values[name];
    if (value === undefined) return [];
    if (passes) return [{ key, passes: (stored: unknown) => passes(stored, value as never) }]; // as its schema parsed it
    const wanted = new Set<unknown>([value].flat());
    return [{ key, passes: (stored: unknown) => wanted.has(stored) }];
  });
  if (asked.length === 0) return undefined;
  return {
    keys: asked.map(({ key }) => key),
    passes: (row: ArchivedRow) => asked.every(({ key, passes }) => passes(row[key])),
  };
}
