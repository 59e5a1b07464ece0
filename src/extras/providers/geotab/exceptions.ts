import { dayMs, hourMs, minuteMs } from '../../../core/platform/durations.ts';
import type { Feed, Json, Page, ProviderRecord, Window } from '../connector/connector.ts';
import { openDays } from '../connector/crash.ts';
import { fitting, iso, listAt } from '../connector/read.ts';
import { type Found, idOf, lookUp, type Seen, unlessWorking } from './look-up.ts';
import {
  accidentRecords,
  beganAt,
  briefly,
  collisionOf,
  eventRecord,
  isCollision,
  isValid,
  madeAt,
  mayBeConfirmed,
  reference,
  ruleOf,
  vehicleRecord,
  vinOf,
} from './records.ts';
import { type Api, feed, rpcAll } from './rpc.ts';
import { currentRules, type Rules } from './rules.ts';

/** Small, because each exception needs a look-up of its place. */
const perPage = 100;

const triesPerPage = 25;

/** How many bytes of them a connection keeps to look at again, with its cursor: some hundred. */
const maxWaiting = 28_000;

/** How late positions may arrive. A collision that is still valid then counts as confirmed. */
const waitsMs = hourMs;

/** Where exceptions stand: the rules taken, what is looked at again, and the latest accidents. */
type Progress = { version: string; rules: Rules; waiting: Seen[]; notified?: string[] };

/** How many accidents are kept, with ids of at most so many characters, to know their other exceptions. */
const maxNotified = 100;
const maxId = 64;

export const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(api, cursor, since) {
    const progress = (cursor ?? {}) as Partial<Progress>;
    const { version, rules: known, waiting: before = [], notified: notifiedBefore = [] } = progress;
    const rules = await currentRules(api, known);
    const found = await feed(api, 'ExceptionEvent', {
      ...(version === undefined ? { since } : { version }),
      limit: perPage,
    });
    const now = Date.now();
    const remaining = new Map(before.map((one) => [idOf(one.item), one]));
    const last = new Map(found.items.map((item) => [idOf(item), item])); // the last version of each counts
    const fresh = [...last].flatMap(([id, item]) => seenIn(rules, item, remaining.get(id)) ?? []);
    for (const id of last.keys()) remaining.delete(id);
    // Waiting ones may have been dismissed meanwhile: known only at the end of the feed.
    const isDue = ({ at = 0 }: Seen) => at <= now && !found.more;
    const due = byUrgency([...remaining.values()].filter(isDue), now).slice(0, triesPerPage);
    for (const { item } of due) remaining.delete(idOf(item));
    const seen = [...fresh, ...due];
    const places = await lookUp(api, seen, now).catch(unlessWorking);
    const { again, notified: news, ...read } = recordsOf(rules, seen, places, notifiedBefore, now);
    const notified = [...new Set([...news, ...notifiedBefore])]
      .filter((id) => id.length <= maxId)
      .slice(0, maxNotified);
    const waiting = fitting(byUrgency([...remaining.values(), ...again], now), maxWaiting);
    const after: Progress = {
      version: found.version,
      rules,
      waiting,
      ...(notified.length > 0 && { notified }),
    };
    return { ...read, cursor: after as Json, more: found.more }; // plain values
  },
  history: { windowDays: 7, isExact: true, page: historyPage },
};

/** Collisions of the last hour first, then the newest. */
const byUrgency = (seen: Seen[], now: number): Seen[] => {
  const isUrgent = (item: unknown) => isCollision(item) && now - madeAt(item) < waitsMs;
  const rank = ({ item }: Seen) => (isUrgent(item) ? Number.MAX_SAFE_INTEGER : 0) + madeAt(item);
  return seen.toSorted((a, b) => rank(b) - rank(a));
};

/** When to look again for something of that age: ever less often. */
export function nextTry(madeAt: number, now: number, lastsMs = waitsMs): number | undefined {
  const age = Math.max(0, now - madeAt);
  return age >= lastsMs
    ? undefined
    : now + Math.min(Math.max(minuteMs, age), waitsMs, lastsMs - age);
}

/** An exception of a page, if its rule is taken. */
function seenIn({ words }: Rules, item: unknown, known?: Seen): Seen | undefined {
  const rule = String(ruleOf(item));
  const word = Object.hasOwn(words, rule) ? words[rule] : undefined;
  if (word === undefined) return undefined;
  const { vin = null, location = null } = known ?? {};
  return { item: briefly(item) as Json, word, vin, location }; // of values as they were parsed
}

/** The records of exceptions, their vehicles, those to look at again, and the accidents notified of. */
function recordsOf(
  rules: Rules,
  seen: Seen[],
  { places, devices, twins: sameCrashes, isLate }: Found,
  notifiedBefore: string[],
  now: number,
) {
  const records: ProviderRecord[] = [];
  const again: Seen[] = [];
  const notified: string[] = [];
  for (const [i, { item, word, at, ...known }] of seen.entries()) {
    const location = places[i] ?? known.location;
    const vin = vinOf(devices.get(reference(item, 'device'))) ?? known.vin;
    const isNews = at === undefined || (known.location === null && location !== null);
    if (isNews) records.push(eventRecord(item, word, location));
    const isOld = now - madeAt(item) >= waitsMs;
    let isNoAccidentYet = false;
    if (isCollision(item) && !isLate) {
      const others = (sameCrashes.get(idOf(item)) ?? []).filter((twin) => seenIn(rules, twin));
      const collision = collisionOf(item, [item, ...others], [...notified, ...notifiedBefore]);
      const accident = accidentRecords(item, collision, { vin, location, isOld });
      if (accident.length > 0) notified.push(collision.id);
      isNoAccidentYet = accident.length === 0 && collision.counts;
      records.push(...accident);
    }
    const isLacking = location === null || isNoAccidentYet || mayBeConfirmed(item);
    const lastsMs = isNoAccidentYet ? openDays * dayMs : waitsMs;
    const next = isValid(item) && isLacking ? nextTry(madeAt(item), now, lastsMs) : undefined;
    if (isLate && now - madeAt(item) < openDays * dayMs)
      again.push({ item, word, vin, location, at: now });
    else if (next !== undefined) again.push({ item, word, vin, location, at: next });
  }
  return {
    records,
    vehicles: [...devices.values()].map((device) => vehicleRecord(device)),
    again,
    notified,
  };
}

/** The progress of a window of history: what began before `to` is left, `span` at a time. */
type HistoryProgress = { rules: Rules; to: number; span: number };

const firstSpanMs = dayMs / 4;

const perRule = 2_000;

/** With more exceptions a span is too long; with fewer than the second, too short. */
const many = 100;
const few = 25;

/**
 * A page of history, newest first. `Get` has no cursor and truncates silently: when it may have,
 * the span is halved. It returns what overlaps a span, so only what began in it is used.
 */
async function historyPage(api: Api, window: Window, cursor: Json): Promise<Page> {
  const progress = (cursor as HistoryProgress | null) ?? {
    rules: await currentRules(api, undefined),
    to: window.to,
    span: firstSpanMs,
  };
  const { rules, to, span } = progress;
  const from = Math.max(window.from, to - span);
  const lists = await rpcAll(
    api,
    Object.keys(rules.words).map((id) => {
      const search = { fromDate: iso(from), toDate: iso(to), ruleSearch: { id } };
      return {
        method: 'Get',
        params: { typeName: 'ExceptionEvent', search, resultsLimit: perRule },
      };
    }),
  );
  const found = lists.map((list) => listAt(list));
  const seen = found
    .flat()
    .filter((item) => !(beganAt(item) < from || beganAt(item) >= to))
    .flatMap((item) => seenIn(rules, item) ?? []);
  const isCut = found.some((list) => list.length >= perRule);
  if ((isCut || seen.length > many) && to - from > minuteMs)
    return { records: [], next: { ...progress, span: Math.ceil((to - from) / 2) } };
  const now = Date.now();
  const { records, vehicles } = recordsOf(rules, seen, await lookUp(api, seen, now), [], now);
  const next = { rules, to: from, span: seen.length < few ? span * 4 : span };
  return { records, vehicles, next: from > window.from ? next : undefined };
}
