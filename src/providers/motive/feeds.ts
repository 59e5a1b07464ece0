import { dayMs, hourMs } from '../../platform/durations.ts';
import type { Feed, Json, ProviderRecord, Window } from '../connector.ts';
import { follow, type OpenCrash } from '../crash.ts';
import { changedSince, inPasses, type Pass } from '../passes.ts';
import { Problem } from '../problem.ts';
import { at, idAt, iso, itemsAt, namesOf } from '../read.ts';
import { type Api, groups, type List, page, type Query, windowPage } from './api.ts';
import { assess, type Crashes, lookUp, performance } from './crashes.ts';
import { driverRecord, isSpeeding, speedingRecord, tripRecord, vehicleOf, vehicleRecord } from './records.ts';

const overlapMs = 5 * 60_000;

/** Trips have no time of change: those of so many days are read again, once a day. */
const tripDays = 3;

/** Motive's filter by change may miss something: once a day the whole list is read. */
const wholeList = (
  list: List,
  query: Query,
  records: (api: Api, items: unknown[]) => ProviderRecord[] | Promise<ProviderRecord[]>,
): Feed<Api> =>
  inPasses({
    everyMinutes: 15,
    overlapMs,
    async read(api, pass) {
      const changed = { ...query, updated_after: changedSince(pass) };
      const { items, next } = await page(api, list, changed, pass.place);
      return { records: await records(api, items), next };
    },
  });

export const vehicles = wholeList(
  { path: '/v1/vehicles', many: 'vehicles', one: 'vehicle' },
  {},
  async (api, items) => {
    const names = await groupNames(api, items);
    return items.map((item) => vehicleRecord(item, names));
  },
);

/** Without the filter all users are returned; the result shows whether it is respected. */
export const drivers = wholeList(
  { path: '/v1/users', many: 'users', one: 'user' },
  { role: 'driver' },
  (_, items) =>
    items.filter((item) => at(item, 'role') === undefined || at(item, 'role') === 'driver').map(driverRecord),
);

/** The names of these vehicles' groups; none if the key may not read groups. */
async function groupNames(api: Api, items: unknown[]): Promise<Map<unknown, unknown>> {
  try {
    return await namesOf(
      items.flatMap((item) => itemsAt(item, 'group_ids')),
      (place) => page(api, groups, {}, place),
      (group) => at(group, 'name') ?? idAt(group, 'id'),
    );
  } catch (error) {
    if (error instanceof Problem && error.kind === 'not permitted') return new Map();
    throw error;
  }
}

const periods: List = { path: '/v1/driving_periods', many: 'driving_periods', one: 'driving_period' };

async function tripPage(api: Api, window: Window, place: Json, query?: Query) {
  const { items, next } = await windowPage(api, periods, window, place, query);
  return { records: items.map(tripRecord), vehicles: items.map(vehicleOf), next };
}

/** A window until after the pass, which begins that long before what it has to read. */
const recent = ({ from, beganAt }: Pass, ms: number): Window => ({
  from: Math.min(from, beganAt) - ms,
  to: beganAt + dayMs,
});

export const trips = inPasses<Api>({
  everyMinutes: 5,
  overlapMs,
  read: (api, pass) =>
    tripPage(api, recent(pass, tripDays * dayMs), pass.place, { updated_after: changedSince(pass) }),
  history: { windowDays: 11, page: tripPage },
});

const speeding: List = { path: '/v1/speeding_events', many: 'speeding_events', one: 'speeding_event' };

/** The two lists of safety events, in the order they are read. */
const eventLists = [performance, speeding];

/** Motive's filter by change also needs the days of the events, which are changed for days. */
const changedDays = 3;

/** Speeding has no filter by change: that of so long is read each minute. */
const speedingMs = 2 * hourMs;

/** How often all events of the last days are read again, so that late and changed ones are found. */
const wholeMs = 6 * hourMs;
const wholeDays = 30;

/** How many pages of a pass are read between two look-ups of crashes, so that a crash does not wait for a backlog. */
const pagesPerLookUp = 10;

/** Safety events, from two lists. Each minute the crashes are looked up, then changes are read. */
export const events = inPasses<Api, Crashes>({
  everyMinutes: 1,
  overlapMs,
  wholeMs,
  async read(api, pass, kept = { open: [], lookedAt: 0 }) {
    const now = Date.now();
    const { at, pages = 0, place } = (pass.place as EventPlace | null) ?? { at: 0, place: null };
    const looked =
      pages % pagesPerLookUp === 0 ? await lookUp(api, kept, now) : { ...nothing, crashes: kept };
    const list = eventLists[at] ?? performance;
    const { items, next } = await changesPage(api, list, pass, place);
    const learned = learnFrom(list, items, looked.crashes.open, now);
    const after = placeAfter(at, next);
    return {
      records: [...looked.records, ...learned.records],
      vehicles: [...looked.vehicles, ...items.map(vehicleOf)],
      next: after && { ...after, pages: pages + 1 },
      kept: { ...looked.crashes, open: learned.open },
    };
  },
  history: {
    windowDays: 7,
    async page(api, window, progress) {
      const { at, place } = (progress as EventPlace | null) ?? { at: 0, place: null };
      const list = eventLists[at] ?? performance;
      const { items, next } = await windowPage(api, list, window, place);
      const { records } = learnFrom(list, items, [], Date.now());
      return { records, vehicles: items.map(vehicleOf), next: placeAfter(at, next) };
    },
  },
});

/** A place in the two lists: the list, the place within it, and how many pages of a pass were read. */
type EventPlace = { at: number; place: Json; pages?: number };

/** The place after a page of a list; undefined after the last list. */
function placeAfter(at: number, next: Json | undefined): EventPlace | undefined {
  if (next !== undefined) return { at, place: next };
  return at + 1 < eventLists.length ? { at: at + 1, place: null } : undefined;
}

const nothing = { records: [], vehicles: [] };

/** A page of what a pass reads of a list. */
async function changesPage(api: Api, list: List, pass: Pass, place: Json) {
  const { from, since } = pass;
  if (pass.isWhole) {
    const window = recent(pass, wholeDays * dayMs);
    return windowPage(api, list, { ...window, from: Math.max(since, window.from) }, place);
  }
  if (list === performance) {
    const changed = { updated_after: iso(from - overlapMs) };
    return windowPage(api, list, recent(pass, changedDays * dayMs), place, changed);
  }
  const { items, next, isPast } = await windowPage(api, list, recent(pass, speedingMs), place);
  return { items, next: isPast ? undefined : next };
}

/** The records of a page, and the crashes that stay open. */
const learnFrom = (list: List, items: unknown[], open: OpenCrash[], now: number) =>
  list === speeding
    ? { records: items.filter(isSpeeding).map(speedingRecord), open }
    : follow(items, open, now, (item, known) => assess(item, known, { now }));
