import type { Json } from '../connector.ts';
import { Problem } from '../problem.ts';
import { at, field, iso } from '../read.ts';
import { type Api, rpc } from './rpc.ts';

/** The items that `Get` finds, of which Geotab gives no more than 5,000 without saying so. @throws Problem */
export async function get(api: Api, typeName: string, more: object = {}): Promise<unknown[]> {
  return listOf(await rpc(api, 'Get', { typeName, ...more }));
}

/** What a reply must be. @throws Problem if it is no list */
export function listOf(result: unknown): unknown[] {
  if (!Array.isArray(result)) throw new Problem('unexpected', 'returns no list');
  return result;
}

/** A page of a walk by id: items after the id `after`; `next` is the last of them, undefined once there are none. @throws Problem */
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

/** Where a feed stands: after a version, or before the first one at what has come in since a time. */
export type FeedPlace = { version: string } | { since: number };

/**
 * A page of what has come in, in the order of versions: the newest of each thing. `version` is where the next one goes
 * on, also after an empty one; `more` says that it is there already. @throws Problem
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

/** The version that a type is at now: without a place, `GetFeed` says nothing else. @throws Problem */
export const versionNow = async (api: Api, typeName: string): Promise<string> =>
  versionIn(await rpc(api, 'GetFeed', { typeName }));

function versionIn(result: unknown): string {
  const version = at(result, 'toVersion');
  if (typeof version !== 'string' || version === '') throw new Problem('unexpected', 'returns no version');
  return version;
}
