import { dayMs, hourMs } from '../../platform/durations.ts';
import { follow, type OpenCrash, openDays } from '../crash.ts';
import { idAt } from '../read.ts';
import { type Api, dayOf, days, type List, page, type Query } from './api.ts';
import { assess, missing } from './crashes.ts';
import { isSpeeding, speedingRecord } from './events.ts';
import { vehicleOf } from './records.ts';

/** With more pages of crashes than this, none is dismissed for being absent. */
const mostPages = 5;

/** How often all open crashes are looked up; those of today and yesterday are each minute. */
const allMs = hourMs;

/** The open crashes, and when all of them were last looked up: 0 for never. */
export type Crashes = { open: OpenCrash[]; lookedAt: number };

/**
 * Looks up which crashes Motive still lists, including slight ones that its users do not see. A missing one is judged
 * only if the whole list was read and its length did not change.
 */
export async function lookUp(api: Api, { open, lookedAt }: Crashes, now: number) {
  const isAll = now - lookedAt > allMs;
  const oldest = lookedAt === 0 ? [now - openDays * dayMs] : open.map((crash) => Date.parse(crash.startedAt));
  const from = Math.min(dayOf(now) - 2 * dayMs, ...(isAll ? oldest : []).map((ms) => dayOf(ms) - dayMs));
  const query = { ...days(from, dayOf(now) + dayMs), event_types: 'crash', ignore_thresholds: true };
  const found = await readAll(api, query);
  const ids = new Set(found.items.map((item) => idAt(item, 'id')));
  const isWhole = found.isWhole && (found.total === undefined || found.total === ids.size);
  const left = isWhole ? missing(open, { ids, from, now }) : { records: [], open };
  const seen = follow(found.items, left.open, now, (item, known) =>
    assess(item, known, { now, isListed: true }),
  );
  return {
    records: [...left.records, ...seen.records],
    vehicles: found.items.map(vehicleOf),
    crashes: { open: seen.open, lookedAt: isAll && isWhole ? now : lookedAt },
  };
}

async function readAll(api: Api, query: Query) {
  const items: unknown[] = [];
  const totals = new Set<number | undefined>();
  for (let no = 1; no <= mostPages; no++) {
    const found = await page(api, performance, query, no);
    items.push(...found.items);
    totals.add(found.total);
    if (found.next === undefined) return { items, isWhole: totals.size === 1, total: found.total };
  }
  return { items, isWhole: false, total: undefined };
}

export const performance: List = {
  path: '/v2/driver_performance_events',
  many: 'driver_performance_events',
  one: 'driver_performance_event',
};

export const speeding: List = {
  path: '/v1/speeding_events',
  many: 'speeding_events',
  one: 'speeding_event',
};

/** The two lists of safety events, in the order they are read. */
export const eventLists = [performance, speeding];

/** The records of a page, and the crashes that stay open. */
export const learnFrom = (list: List, items: unknown[], open: OpenCrash[], now: number) =>
  list === speeding
    ? { records: items.filter(isSpeeding).map(speedingRecord), open }
    : follow(items, open, now, (item, known) => assess(item, known, { now }));
