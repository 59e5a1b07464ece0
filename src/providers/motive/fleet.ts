import type { Feed, ProviderRecord } from '../connector.ts';
import { Problem } from '../problem.ts';
import { at, idAt } from '../read.ts';
import {
  type Api,
  beganIn,
  dayMs,
  dayOf,
  daysAround,
  firstPlace,
  groups,
  type List,
  nextPlace,
  type Place,
  page,
  type Query,
  stretchOf,
} from './api.ts';
import { driverRecord, tripRecord, vehicleOf, vehicleRecord } from './records.ts';

const minuteMs = 60_000;

/** Changes are asked for from a little before the last pass began. */
const overlapMs = 5 * minuteMs;

/** A page of ours may be several of Motive's, which all end within this. */
const endMs = 18_000;

/** Trips say nothing of their changes: those of so many days are read again, once a day. */
const tripDays = 3;

/** More pages of groups than these are not looked through for the names of a page of vehicles. */
const mostGroupPages = 5;

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Where the passes of a list stand. Each asks for what has changed since the last one began, and once a day for
 * everything: that Motive filters by change in each list is not certain, nor that it misses nothing.
 */
type Passes = {
  from: number | null;
  wholeAt: number;
  pass: { beganAt: number; isWhole: boolean; place: Place } | null;
};

function begin(passes: Passes, now: number): NonNullable<Passes['pass']> {
  const isWhole = passes.from === null || now - passes.wholeAt >= dayMs;
  return passes.pass ?? { beganAt: now, isWhole, place: firstPlace };
}

/** The cursor after a page of a pass, `next` being the place that is left of it. */
function after(passes: Passes, pass: NonNullable<Passes['pass']>, next: Place | undefined) {
  if (next) return { ...passes, pass: { ...pass, place: next } };
  return {
    from: pass.beganAt - overlapMs,
    wholeAt: pass.isWhole ? pass.beganAt : passes.wholeAt,
    pass: null,
  };
}

const updatedAfter = ({ from }: Passes, { isWhole }: { isWhole: boolean }): Query =>
  from === null || isWhole ? {} : { updated_after: iso(from) };

const neverPulled: Passes = { from: null, wholeAt: 0, pass: null };

const wholeList = (
  list: List,
  query: Query,
  records: (api: Api, items: unknown[]) => ProviderRecord[] | Promise<ProviderRecord[]>,
): Feed<Api> => ({
  everyMinutes: 15,
  async changes(access, cursor) {
    const api = { ...access, until: Date.now() + endMs };
    const passes = (cursor as Passes | null) ?? neverPulled;
    const pass = begin(passes, Date.now());
    const read = await page(api, list, { ...query, ...updatedAfter(passes, pass) }, pass.place.page);
    const next = nextPlace(pass.place, { more: read.more, isLast: true });
    return {
      records: await records(api, read.items),
      cursor: after(passes, pass, next),
      more: next !== undefined,
    };
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

/** Without the filter people of all sorts come; whether it is heeded is seen by what comes. */
export const drivers = wholeList(
  { path: '/v1/users', many: 'users', one: 'user' },
  { role: 'driver' },
  (_, items) =>
    items.filter((item) => at(item, 'role') === undefined || at(item, 'role') === 'driver').map(driverRecord),
);

/** The names of the groups that these vehicles are in; of none, if the key may not read groups. */
async function groupNames(api: Api, items: unknown[]): Promise<Map<unknown, unknown>> {
  const wanted = new Set(
    items.flatMap((item) => {
      const ids = at(item, 'group_ids');
      return Array.isArray(ids) ? ids : [];
    }),
  );
  const names = new Map<unknown, unknown>();
  try {
    for (let no = 1; wanted.size > names.size && no <= mostGroupPages; no++) {
      const { items: found, more } = await page(api, groups, {}, no);
      for (const group of found)
        if (wanted.has(at(group, 'id'))) names.set(at(group, 'id'), at(group, 'name') ?? idAt(group, 'id'));
      if (!more) break;
    }
  } catch (error) {
    if (!(error instanceof Problem && error.kind === 'not permitted')) throw error;
  }
  return names;
}

const periods: List = { path: '/v1/driving_periods', many: 'driving_periods', one: 'driving_period' };

const tripsOf = (items: unknown[]) => ({ records: items.map(tripRecord), vehicles: items.map(vehicleOf) });

export const trips: Feed<Api> = {
  everyMinutes: 5,
  async changes(api, cursor, since) {
    const passes = (cursor as Passes | null) ?? { from: since, wholeAt: since, pass: null };
    const pass = begin(passes, Date.now());
    const first = dayOf(Math.min(passes.from ?? since, pass.beganAt)) - tripDays * dayMs;
    const { query, isLast } = stretchOf(pass.place, { first, last: dayOf(pass.beganAt) + dayMs });
    const read = await page(api, periods, { ...query, ...updatedAfter(passes, pass) }, pass.place.page);
    const next = nextPlace(pass.place, { more: read.more, isLast });
    return { ...tripsOf(read.items), cursor: after(passes, pass, next), more: next !== undefined };
  },
  history: {
    windowDays: 14,
    async page(api, window, cursor) {
      const no = typeof cursor === 'number' ? cursor : 1;
      const read = await page(api, periods, daysAround(window), no);
      const found = tripsOf(read.items.filter(beganIn(window)));
      return { ...found, cursor: read.more ? no + 1 : null, more: read.more };
    },
  },
};
