import { dayMs, hourMs } from '../../platform/durations.ts';
import type { Feed, Json, ProviderRecord } from '../connector.ts';
import { follow, type OpenCrash } from '../crash.ts';
import { changedSince, inPasses, type Pass } from '../passes.ts';
import { Problem } from '../problem.ts';
import { at, idAt, iso, itemsAt, namesOf } from '../read.ts';
import {
  type Api,
  beganIn,
  dayOf,
  daysAround,
  daysPage,
  groups,
  type List,
  page,
  type Query,
  startOf,
} from './api.ts';
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

const tripsOf = (items: unknown[]) => ({ records: items.map(tripRecord), vehicles: items.map(vehicleOf) });

export const trips = inPasses<Api>({
  everyMinutes: 5,
  overlapMs,
  async read(api, pass) {
    const span = {
      first: dayOf(Math.min(pass.from, pass.beganAt)) - tripDays * dayMs,
      last: dayOf(pass.beganAt) + dayMs,
    };
    const { items, next } = await daysPage(
      api,
      periods,
      { updated_after: changedSince(pass) },
      span,
      pass.place,
    );
    return { ...tripsOf(items), next };
  },
  history: {
    windowDays: 14,
    async page(api, window, place) {
      const { items, next } = await page(api, periods, daysAround(window), place);
      return { ...tripsOf(items.filter(beganIn(window))), next };
    },
  },
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
    const { at, pages, place } = (pass.place as EventPlace | null) ?? { at: 0, pages: 0, place: null };
    const looked =
      pages % pagesPerLookUp === 0 ? await lookUp(api, kept, now) : { ...nothing, crashes: kept };
    const list = eventLists[at] ?? performance;
    const { items, next } = await changesPage(api, list, pass, place);
    const learned = learnFrom(list, items, looked.crashes.open, now);
    const after = next ? { at, place: next } : { at: at + 1, place: null };
    return {
      records: [...looked.records, ...learned.records],
      vehicles: [...looked.vehicles, ...items.map(vehicleOf)],
      next: after.at < eventLists.length ? { ...after, pages: pages + 1 } : undefined,
      kept: { ...looked.crashes, open: learned.open },
    };
  },
  history: {
    windowDays: 7,
    async page(api, window, place) {
      const { at, no } = (place as { at: number; no: number } | null) ?? { at: 0, no: 1 };
      const list = eventLists[at] ?? performance;
      const read = await page(api, list, daysAround(window), no);
      const items = read.items.filter(beganIn(window));
      const { records } = learnFrom(list, items, [], Date.now());
      const next = read.next === undefined ? { at: at + 1, no: 1 } : { at, no: read.next };
      return {
        records,
        vehicles: items.map(vehicleOf),
        next: next.at < eventLists.length ? next : undefined,
      };
    },
  },
});

/** The progress of a pass: its list, the place within it, and how many pages were read. */
type EventPlace = { at: number; pages: number; place: Json };

const nothing = { records: [], vehicles: [] };

/** A page of what a pass reads of a list. */
async function changesPage(api: Api, list: List, { from, since, beganAt, isWhole }: Pass, place: Json) {
  const last = dayOf(beganAt) + dayMs;
  const start = Math.min(from, beganAt);
  if (isWhole) {
    const first = Math.max(dayOf(since) - dayMs, Math.min(dayOf(start), last - wholeDays * dayMs));
    const { items, next } = await daysPage(api, list, {}, { first, last }, place);
    return { items: items.filter(beganIn({ from: since, to: Number.POSITIVE_INFINITY })), next };
  }
  if (list === performance) {
    const changed = { updated_after: iso(from - overlapMs) };
    return daysPage(api, list, changed, { first: dayOf(start) - changedDays * dayMs, last }, place);
  }
  const read = { from: start - speedingMs, to: Number.POSITIVE_INFINITY };
  const { items, next } = await daysPage(api, list, {}, { first: dayOf(read.from) - dayMs, last }, place);
  return { items: items.filter(beganIn(read)), next: reaches(items, read.from) ? undefined : next };
}

/** Whether a page ordered by time, newest first, shows that everything after it is older. */
function reaches(items: unknown[], since: number): boolean {
  const starts = items.map(startOf);
  const isInOrder = starts.every((ms, i) => ms <= (starts[i - 1] ?? Number.POSITIVE_INFINITY));
  return isInOrder && (starts.at(-1) ?? Number.NaN) < since;
}

/** The records of a page, and the crashes that stay open. */
const learnFrom = (list: List, items: unknown[], open: OpenCrash[], now: number) =>
  list === speeding
    ? { records: items.filter(isSpeeding).map(speedingRecord), open }
    : follow(items, open, now, (item, known) => assess(item, known, { now }));
