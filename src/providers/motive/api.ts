import { call } from '../call.ts';
import type { Access } from '../connector.ts';
import { at, listAt, numeric } from '../read.ts';

/** What a page of ours has to read Motive with, and by when its calls must have ended (milliseconds since 1970). */
export type Api = Access & { until?: number };

export type Query = { [name: string]: string | number | boolean | undefined };

/** A list of Motive's: each item lies in an object of its own, under `one`. */
export type List = { path: string; many: string; one: string };

export const companies: List = { path: '/v1/companies', many: 'companies', one: 'company' };
export const groups: List = { path: '/v1/groups', many: 'groups', one: 'group' };

/** The most that a page holds. */
const perPage = 100;

/** A page of a list, by its number from 1. `total` is how many items the whole list has, if Motive says so. */
export type Listed = { items: unknown[]; more: boolean; total: number | undefined };

/**
 * Reads a page of a list. Speeds come in km/h and times in UTC. Each page says how many items there are, some of them
 * outside `pagination`. If none does, the first page that is not full is the last.
 *
 * @throws Problem
 */
export async function page(api: Api, { path, many, one }: List, query: Query, no: number): Promise<Listed> {
  const { json } = await call({
    url: `${api.baseUrl}${path}`,
    headers: { 'X-Api-Key': api.credential, 'X-Metric-Units': 'true' },
    query: { ...query, per_page: perPage, page_no: no },
    ...(api.until !== undefined && { withinMs: api.until - Date.now() }),
  });
  const items = listAt(json, many).map((item) => at(item, one) ?? item);
  const total = numeric(json, 'pagination', 'total') ?? numeric(json, 'total');
  const given = numeric(json, 'pagination', 'per_page') ?? numeric(json, 'per_page');
  const size = typeof given === 'number' && given > 0 ? given : perPage;
  if (typeof total !== 'number') return { items, more: items.length >= size, total: undefined };
  return { items, more: items.length > 0 && no * size < total, total };
}
