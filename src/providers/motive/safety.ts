import { dayMs, minuteMs } from '../../platform/durations.ts';
import type { Feed, Json, ProviderRecord } from '../connector.ts';
import { iso } from '../read.ts';
import {
  type Api,
  beganIn,
  dayOf,
  days,
  daysAround,
  firstPage,
  type List,
  nextPlace,
  type PagePosition,
  page,
  startOf,
  stretchOf,
} from './api.ts';
import { overlapMs } from './fleet.ts';
import { type Crashes, eventLists, learnFrom, lookUp, performance, speeding } from './look-up.ts';
import { vehicleOf } from './records.ts';

/** A page of ours is a few of Motive's; the last must begin within this time. */
const beginMs = 4_000;
const mostRecords = 400;

/** `from` advances in steps, so that quiet minutes cost no write. */
const stepMs = 10 * minuteMs;

/** Events change for days. Motive's filter by change also needs the days of the events. */
const changedDays = 3;

/** Speeding cannot be filtered by change: recent speeding is read each minute, and the rest by the sweep. */
const speedingMs = 30 * minuteMs;

/** The last days are read again: a few each hour, more each day; some pages of that a minute. */
const sweeps = { hourMs: 60 * minuteMs, days: 3, deepDays: 30, pages: 3 };

/** The feed's progress: changes before `from` are known. A pass reads both lists; null when it is over. */
type Standing = {
  from: number;
  crashes: Crashes;
  pass: { beganAt: number; list: number; place: PagePosition } | null;
  sweep: Sweep;
};

/** When the last few and the last many days were read again, and what is left of that. */
type Sweep = {
  at: number;
  deepAt: number;
  left: { day: number; last: number; list: number; page: number } | null;
};

type Found = { records: ProviderRecord[]; vehicles: ProviderRecord[] };

const begin = (since: number): Standing => ({
  from: since,
  crashes: { open: [], lookedAt: 0 },
  pass: null,
  sweep: { at: since, deepAt: since, left: null },
});

/**
 * Safety events, from two lists. Each minute the crashes are looked up, then changes are read. Events have no time of
 * change, and speeding has no filter by change, so recent days are read again.
 */
export const events: Feed<Api> = {
  everyMinutes: 1,
  async changes(api, cursor, since) {
    const now = Date.now();
    const standing = (cursor as Standing | null) ?? begin(since);
    const found: Found = { records: [], vehicles: [] };
    const hasRoom = () => Date.now() - now < beginMs && found.records.length < mostRecords;
    let { pass, from, sweep } = standing;
    // Also within a pass, so that a crash does not wait for a backlog.
    const learned = await lookUp(api, standing.crashes, now);
    add(found, learned);
    let { crashes } = learned;
    pass ??= { beganAt: now, list: 0, place: firstPage };
    const learn = (list: List, items: unknown[]) => {
      const { records, open } = learnFrom(list, items, crashes.open, now);
      add(found, { records, vehicles: items.map(vehicleOf) });
      crashes = { ...crashes, open };
    };
    while (pass && hasRoom()) {
      const list = eventLists[pass.list];
      if (list) {
        const read = await readChanges(api, list, { from, ...pass });
        learn(list, read.items);
        pass = read.next ? { ...pass, place: read.next } : { ...pass, list: pass.list + 1, place: firstPage };
      } else {
        if (pass.beganAt - from > stepMs) from = pass.beganAt - overlapMs;
        pass = null;
      }
    }
    for (let pages = 0; !pass && pages < sweeps.pages && hasRoom(); pages++) {
      sweep = beginSweep(sweep, { now, since });
      const { left } = sweep;
      const list = left && eventLists[left.list];
      if (!left || !list) break;
      const read = await page(api, list, days(left.day, left.day), left.page);
      learn(list, read.items.filter(beganIn({ from: since, to: Number.POSITIVE_INFINITY })));
      sweep = { ...sweep, left: read.next === undefined ? afterDay(left) : { ...left, page: read.next } };
    }
    const next: Standing = { from, crashes, pass, sweep };
    return { ...found, cursor: next as unknown as Json, more: pass !== null }; // plain values throughout
  },
  restart(cursor) {
    const standing = cursor as Standing; // as `changes` has written it
    const next: Standing = { ...standing, pass: null, sweep: { ...standing.sweep, left: null } };
    return next as unknown as Json; // plain values throughout
  },
  history: {
    windowDays: 7,
    async page(api, window, place) {
      const { list: at, no } = (place as { list: number; no: number } | null) ?? { list: 0, no: 1 };
      const list = eventLists[at] ?? performance;
      const read = await page(api, list, daysAround(window), no);
      const items = read.items.filter(beganIn(window));
      const { records } = learnFrom(list, items, [], Date.now());
      const next = read.next === undefined ? { list: at + 1, no: 1 } : { list: at, no: read.next };
      return {
        records,
        vehicles: items.map(vehicleOf),
        next: next.list < eventLists.length ? next : undefined,
      };
    },
  },
};

function add(to: Found, { records, vehicles }: Found): void {
  to.records.push(...records);
  to.vehicles.push(...vehicles);
}

type Changes = { from: number; beganAt: number; place: PagePosition };

/** A page of changes, and the position after it; undefined at the end. */
async function readChanges(api: Api, list: List, { from, beganAt, place }: Changes) {
  const last = dayOf(beganAt) + dayMs;
  if (list === performance) {
    const first = dayOf(Math.min(from, beganAt)) - changedDays * dayMs;
    const { query, isLast } = stretchOf(place, { first, last });
    const changed = { ...query, updated_after: iso(from - overlapMs) };
    const { items, next } = await page(api, list, changed, place.page);
    return { items, next: nextPlace(place, { next, isLast }) };
  }
  const since = from - speedingMs;
  const { query, isLast } = stretchOf(place, { first: dayOf(since) - dayMs, last });
  const read = await page(api, speeding, query, place.page);
  const next = reaches(read.items, since) ? undefined : nextPlace(place, { next: read.next, isLast });
  return { items: read.items.filter(beganIn({ from: since, to: Number.POSITIVE_INFINITY })), next };
}

/** Whether a page ordered by time, newest first, shows that everything after it is older. */
function reaches(items: unknown[], since: number): boolean {
  const starts = items.map(startOf);
  const isInOrder = starts.every((ms, i) => ms <= (starts[i - 1] ?? Number.POSITIVE_INFINITY));
  return isInOrder && (starts.at(-1) ?? Number.NaN) < since;
}

/** Starts a sweep if one is due. It stops where the connection was made. */
function beginSweep(sweep: Sweep, { now, since }: { now: number; since: number }): Sweep {
  if (sweep.left || now - sweep.at < sweeps.hourMs) return sweep;
  const isDeep = now - sweep.deepAt >= dayMs;
  const day = dayOf(now) + dayMs;
  const last = Math.max(dayOf(since), day - (isDeep ? sweeps.deepDays : sweeps.days) * dayMs);
  return { at: now, deepAt: isDeep ? now : sweep.deepAt, left: { day, last, list: 0, page: 1 } };
}

/** What is left of a sweep after a day of a list: the other list's, then the day before. */
function afterDay({ day, last, list }: NonNullable<Sweep['left']>): Sweep['left'] {
  if (list + 1 < eventLists.length) return { day, last, list: list + 1, page: 1 };
  return day > last ? { day: day - dayMs, last, list: 0, page: 1 } : null;
}
