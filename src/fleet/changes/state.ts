import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { fitting } from '../../platform/db/pages.ts';
import { findArchived } from '../archive/lately.ts';
import { presentSized, type SizedItem, selectByIds } from '../find.ts';
import { type List, shownOf } from '../lists/list.ts';
import { lists } from '../lists/registry.ts';
import type { Collapsed, Reached } from './page.ts';
import type { Change } from './schema.ts';

/** The approximate bytes of a feed's item beside its data, as JSON. */
const bytesAround = 200;

/**
 * Adds the current state of records, reading a row for each. A missing one, or one of a connection that is being
 * deleted, is reported as deleted once the feed reaches its deletion, and left out before. `cut` is how far this gets
 * if the page would become too large.
 */
export async function withState(
  env: Env,
  caller: Caller,
  records: Collapsed[],
): Promise<{ items: Change[]; cut?: Reached }> {
  const current = await readCurrent(env, caller, records);
  const sized = records.map((record) => {
    const found = current.get(record.id);
    return { record, data: found?.item ?? null, size: bytesAround + (found?.size ?? 0) };
  });
  const page = sized.slice(0, fitting(sized));
  const cut = sized[page.length]?.record.before;
  const items = page.flatMap(({ record, data }): Change[] => {
    const { kind, id, connectionId, action } = record;
    if (data === null && action === 'changed') return [];
    return [{ kind, id, connectionId, action: data === null ? 'deleted' : 'changed', data }];
  });
  return { items, ...(cut && { cut }) };
}

async function readCurrent(env: Env, caller: Caller, records: Collapsed[]): Promise<Map<string, SizedItem>> {
  const wanted = lists
    .map(({ kind, list }) => ({
      list,
      ids: records.filter((record) => record.kind === kind).map(({ id }) => id),
    }))
    .filter(({ ids }) => ids.length > 0);
  if (wanted.length === 0) return new Map();
  const found = await asCaller(env, caller, (db) =>
    wanted.map(({ list, ids }) => selectByIds(db, caller, list, ids)),
  );
  const items = found.flatMap((rows, at) => {
    const list = wanted[at]?.list;
    return list ? rows.map((row) => presentSized(list, row)) : [];
  });
  const known = new Map(items.map((item) => [item.id, item]));
  for (const { list, ids } of wanted) {
    const missing = ids.filter((id) => !known.has(id));
    for (const item of await archivedItems(env, caller, list, missing)) known.set(item.id, item);
  }
  return known;
}

/** Records archived since they changed, such as late ones of old days. */
async function archivedItems(env: Env, caller: Caller, list: List, ids: string[]): Promise<SizedItem[]> {
  if (!list.archive) return [];
  const rows = await findArchived(env, caller, list.archive, ids);
  return rows.map((row) => presentSized(list, { ...shownOf(list, row), recordId: String(row[list.id]) }));
}
