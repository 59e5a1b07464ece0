import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts';
import type { Feed, Json, Page, ProviderRecord, Window } from '../connector.ts';
import { field, iso, msOf } from '../read.ts';
import { type Found, lookUp } from './places.ts';
import {
  accidentRecords,
  beganAt,
  briefly,
  eventRecord,
  isCollision,
  isValid,
  mayBeConfirmed,
  reference,
  ruleOf,
  timeAt,
  vehicleRecord,
  vinOf,
} from './records.ts';
import { type Api, feed, listOf, rpcAll } from './rpc.ts';
import { currentRules, type Rules, rulesTaken, wordOf } from './rules.ts';

/** Small, because each exception needs a look-up of its place. */
const perPage = 100;

/** How many waiting exceptions a page tries again. */
const triesPerPage = 25;

/** How many a connection keeps to look at again, and how long one may be: they are kept with its cursor. */
export const maxWaiting = 300;
const maxLength = 2_000;

/** How late positions may arrive. A collision that is still valid then counts as confirmed. */
export const waitsMs = hourMs;

/** After this an imprecise place is good enough: until then a late vehicle may still send a better one. */
const preciseMs = 10 * minuteMs;

/**
 * An exception to report: its vehicle's VIN and its place as far as they are known, and when it is looked at again if it
 * was reported before (milliseconds since 1970).
 */
type Seen = { item: Json; word: string; vin: Json; location: Json; at?: number };

/** Where exceptions stand, with the rules that are taken, and those that are looked at again. */
type Progress = { version: string; rules: Rules; waiting: Seen[] };

export const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(api, cursor, since) {
    const place = cursor as Progress | null;
    const rules = await currentRules(api, place?.rules);
    const found = await feed(api, 'ExceptionEvent', place ? { version: place.version } : { since }, perPage);
    const now = Date.now();
    const left = new Map(place?.waiting.map((one) => [idOf(one.item), one]));
    const last = new Map(found.items.map((item) => [idOf(item), item])); // the last version of each counts
    const fresh = [...last].flatMap(([id, item]) => seenIn(api, rules, item, left.get(id)) ?? []);
    for (const id of last.keys()) left.delete(id);
    // Waiting ones may have been dismissed meanwhile: known only at the end of the feed.
    const due = found.more ? [] : dueIn([...left.values()], now);
    for (const { item } of due) left.delete(idOf(item));
    const { waiting, ...read } = await recordsOf(api, [...fresh, ...due], now);
    const kept = keptWaiting([...left.values(), ...waiting]);
    return { ...read, cursor: { version: found.version, rules, waiting: kept }, more: found.more };
  },
  history: { windowDays: 7, isExact: true, page: historyPage },
};

const idOf = (item: unknown): unknown => field(item, 'id');

/** Those of the waiting that are due, collisions first. */
const dueIn = (waiting: Seen[], now: number): Seen[] =>
  waiting
    .filter(({ at = 0 }) => at <= now)
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, triesPerPage);

/** Collisions first, then the newest. */
const keptWaiting = (all: Seen[]): Seen[] =>
  all
    .filter((one) => JSON.stringify(one).length <= maxLength)
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, maxWaiting);

const rank = ({ item }: Seen) => (isCollision(item) ? Number.MAX_SAFE_INTEGER : 0) + madeAt(item);

/** When Geotab made an exception known; 0 if it does not say. */
const madeAt = (item: unknown): number =>
  [timeAt(item, 'createdDateTime'), timeAt(item, 'activeFrom')].map(msOf).find(Number.isFinite) ?? 0;

/** When to look again for something of that age: less and less often, the last time at the end. */
export function nextTry(madeAt: number, now: number): number | undefined {
  const age = Math.max(0, now - madeAt);
  return age >= waitsMs ? undefined : now + Math.min(Math.max(minuteMs, age), waitsMs - age);
}

/**
 * An exception that a page has, if it is taken: of those that are not valid only collisions are, which may have been
 * reported. `known` is what was kept of it.
 */
function seenIn(api: Api, rules: Rules, item: unknown, known?: Seen): Seen | undefined {
  const word = wordOf(api, rules, ruleOf(item));
  if (word === undefined || !(isValid(item) || isCollision(item))) return undefined;
  const { vin = null, location = null } = known ?? {};
  return { item: briefly(item) as Json, word, vin, location };
}

/** The records of exceptions with what is found of them, their vehicles, and those that are looked at again. */
async function recordsOf(api: Api, seen: Seen[], now: number) {
  const asks = seen.map(({ item }) => ({ item, wide: now - madeAt(item) >= preciseMs }));
  const found = await lookUp(api, asks);
  const records: ProviderRecord[] = [];
  const waiting: Seen[] = [];
  for (const [i, { item, word, at, ...known }] of seen.entries()) {
    const location = found.places[i] ?? known.location;
    const vin = vinIn(found, item) ?? known.vin;
    const isNews = at === undefined || (known.location === null && location !== null);
    if (isValid(item) && isNews) records.push(eventRecord(item, word, location));
    const isOld = now - madeAt(item) >= waitsMs;
    if (isCollision(item)) records.push(...accidentRecords(item, { vin, location, isOld }));
    const isLacking = location === null || (isCollision(item) && vin === null) || mayBeConfirmed(item);
    const next = isValid(item) && isLacking ? nextTry(madeAt(item), now) : undefined;
    if (next !== undefined) waiting.push({ item, word, vin, location, at: next });
  }
  const vehicles = [...found.devices.values()].map((device) => vehicleRecord(device, new Map()));
  return { records, vehicles, waiting };
}

function vinIn({ devices }: Found, item: unknown): Json {
  const device = devices.get(String(reference(item, 'device')));
  return device === undefined ? null : (vinOf(device) as Json);
}

/** The progress of a window of history: what began before `to` is left, `span` at a time. */
type HistoryProgress = { rules: Rules; to: number; span: number };

const firstSpanMs = dayMs / 4;

/** The most exceptions of a rule per request. */
const perRule = 2_000;

/** With more exceptions a span is too long, because each needs a look-up; with fewer than the second, too short. */
const many = 100;
const few = 25;

/**
 * A page of history: the exceptions that began in a time span, newest first. `Get` has no cursor and truncates lists
 * silently: when it may have, the span is halved. It returns what overlaps a span, so only what began in it is used.
 */
async function historyPage(api: Api, window: Window, cursor: Json): Promise<Page> {
  const place = (cursor as HistoryProgress | null) ?? {
    rules: await currentRules(api, undefined),
    to: window.to,
    span: firstSpanMs,
  };
  const { rules, to, span } = place;
  const from = Math.max(window.from, to - span);
  const lists = await exceptionsIn(api, rulesTaken(api, rules), from, to);
  const seen = lists
    .flat()
    .filter((item) => !(beganAt(item) < from || beganAt(item) >= to))
    .flatMap((item) => seenIn(api, rules, item) ?? []);
  const isCut = lists.some((list) => list.length >= perRule);
  if ((isCut || seen.length > many) && to - from > minuteMs)
    return { records: [], next: { ...place, span: Math.ceil((to - from) / 2) } };
  const { records, vehicles } = await recordsOf(api, seen, Date.now());
  const next = { rules, to: from, span: seen.length < few ? span * 4 : span };
  return { records, vehicles, next: from > window.from ? next : undefined };
}

/** The exceptions of each rule between two times. */
async function exceptionsIn(api: Api, rules: string[], from: number, to: number): Promise<unknown[][]> {
  const dates = { fromDate: iso(from), toDate: iso(to) };
  const calls = rules.map((id) => ({
    method: 'Get',
    params: {
      typeName: 'ExceptionEvent',
      search: { ...dates, ruleSearch: { id } },
      resultsLimit: perRule,
    },
  }));
  return (await rpcAll(api, calls)).map(listOf);
}
