import type { Json } from '../connector.ts';
import { Problem } from '../problem.ts';
import { at, field, iso } from '../read.ts';
import { type Api, rpc } from './rpc.ts';

/** The items that `Get` finds; Geotab silently returns at most 5,000. @throws Problem */
export async function get(api: Api, typeName: string, more: object = {}): Promise<unknown[]> {
  return listOf(await rpc(api, 'Get', { typeName, ...more }));
}

/** @throws Problem, if the result is not a list */
export function listOf(result: unknown): unknown[] {
  if (!Array.isArray(result)) throw new Problem('unexpected', 'returns no list');
  return result;
}

/**
 * A page of a list by id: items after the id `after`; `next` is the last of them, undefined at the end. @throws Problem
 */
export async function walk(
  api: Api,
  typeName: string,
  { after, search, limit }: { after: Json; search?: object; limit: number },
): Promise<{ items: unknown[]; next: string | undefined }> {
  const sort = { sortBy: 'id', sortDirection: 'asc', offset: after };
  const items = await get(api, typeName, { sort, resultsLimit: limit, ...(search && { search }) });
  if (items.length === 0) return { items, next: undefined };
  const last = items.map((item) => field(item, 'id')).findLast((id) => typeof id === 'string');
  if (typeof last !== 'string' || last === after)
    throw new Problem('unexpected', `does not continue its list of ${typeName}`);
  return { items, next: last };
}

/** Where a feed continues: after a version, or at what was received since a time. */
export type FeedPlace = { version: string } | { since: number };

/**
 * A page of a feed in the order of versions, with the newest of each item. `version` is where the next one continues,
 * even after an empty page; `more` if it is available now. @throws Problem
 */
export async function feed(
  api: Api,
  typeName: string,
  from: FeedPlace,
  limit: number,
): Promise<{ items: unknown[]; version: string; more: boolean }> {
  const place = 'version' in from ? { fromVersion: from.version } : { search: { fromDate: iso(from.since) } };
  const result = await rpc(api, 'GetFeed', { typeName, ...place, resultsLimit: limit });
  const items = listOf(at(result, 'data'));
  return { items, version: versionIn(result), more: items.length >= limit };
}

/** The current version of a type: without a position, `GetFeed` returns only that. @throws Problem */
export const versionNow = async (api: Api, typeName: string): Promise<string> =>
  versionIn(await rpc(api, 'GetFeed', { typeName }));

function versionIn(result: unknown): string {
  const version = at(result, 'toVersion');
  if (typeof version !== 'string' || version === '') throw new Problem('unexpected', 'returns no version');
  return version;
}
