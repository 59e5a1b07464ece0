import { dayMs } from '../../../core/platform/durations.ts';
import { call } from '../connector/call.ts';
import { type Access, type Json, TooLarge, type Window } from '../connector/connector.ts';
import { at, iso, listAt, msOf, numeric } from '../connector/read.ts';

export type Api = Access;

export type Query = { [name: string]: string | number | boolean | undefined };

/** A list of Motive's; each item is in an object of its own, under `one`. */
export type List = { path: string; many: string; one: string };

const perPage = 100;

/** `next` is the next page's number; `total` counts the whole list, if Motive returns it. */
export type Listed = { items: unknown[]; next: number | undefined; total: number | undefined };

/**
 * Reads a page of a list by its number, with speeds in km/h and times in UTC. If nothing says how
 * many there are, the first page that is not full is the last.
 * @throws Problem
 */
export async function page(api: Api, list: List, query: Query, position: Json): Promise<Listed> {
  const no = typeof position === 'number' ? position : 1;
  const { items, total, size } = await read(api, list, query, no, perPage);
  const isCounted = typeof total === 'number';
  const more = isCounted ? items.length > 0 && no * size < total : items.length >= size;
  return { items, next: more ? no + 1 : undefined, total: isCounted ? total : undefined };
}

/** How many items a part of a page has that is too large to be read whole. */
const partOf: { [size: number]: number } = { 100: 50, 50: 25, 25: 5, 5: 1 };

/** Reads a page of so many items, by its number; one that is too large in parts. @throws Problem */
async function read(
  api: Api,
  list: List,
  query: Query,
  no: number,
  size: number,
): Promise<{ items: unknown[]; total: unknown; size: number }> {
  const part = partOf[size];
  try {
    const { json } = await call(api, {
      url: `${api.baseUrl}${list.path}`,
      headers: { 'X-Api-Key': api.credential, 'X-Metric-Units': 'true' },
      query: { ...query, per_page: size, page_no: no },
    });
    const items = listAt(json, list.many).map((item) => at(item, list.one) ?? item);
    const total = numeric(json, 'pagination', 'total') ?? numeric(json, 'total');
    const pageSize = numeric(json, 'pagination', 'per_page') ?? numeric(json, 'per_page');
    return { items, total, size: typeof pageSize === 'number' && pageSize > 0 ? pageSize : size };
  } catch (error) {
    if (part === undefined || !(error instanceof TooLarge)) throw error;
  }
  const items: unknown[] = [];
  let total: unknown;
  const count = size / part;
  for (let at = 1; at <= count; at++) {
    const found = await read(api, list, query, (no - 1) * count + at, part);
    items.push(...found.items);
    total = found.total;
    if (found.items.length < part) break;
  }
  return { items, total, size };
}

/** The first millisecond of a time's UTC day. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/** The days from one to another, inclusive. Motive truncates times in some zone: ask for a day more. */
export const days = (first: number, last: number): Query => ({
  start_date: iso(first).slice(0, 10),
  end_date: iso(last).slice(0, 10),
});

/** When an item began, in milliseconds since 1970; NaN if that is missing. */
export const startOf = (item: unknown): number => msOf(at(item, 'start_time'));

/** The days of one call: many take Motive long, and it refuses more than 30 for driving periods. */
const daysPerCall = 14;

/** A page of what began in a window, from the newest; what follows is older if it `isPast`. */
export async function windowPage(
  api: Api,
  list: List,
  { from, to }: Window,
  position: Json,
  query: Query = {},
) {
  const [first, last] = [dayOf(from) - dayMs, dayOf(to) + dayMs];
  const { end, no } = (position as { end: number; no: number } | null) ?? { end: last, no: 1 };
  const begin = Math.max(first, end - (daysPerCall - 1) * dayMs);
  const read = await page(api, list, { ...query, ...days(begin, end) }, no);
  const rest = begin > first ? { end: begin - dayMs, no: 1 } : undefined;
  return {
    items: read.items.filter((item) => !(startOf(item) < from || startOf(item) >= to)),
    next: read.next === undefined ? rest : { end, no: read.next },
    isPast: reaches(read.items, from),
  };
}

/** Whether a page ordered by time, newest first, shows that everything after it is older. */
function reaches(items: unknown[], since: number): boolean {
  const starts = items.map(startOf);
  const isInOrder = starts.every((ms, i) => ms <= (starts[i - 1] ?? Number.POSITIVE_INFINITY));
  return isInOrder && (starts.at(-1) ?? Number.NaN) < since;
}
