import { dayMs } from '../../platform/durations.ts';
import type { Feed, ProviderRecord } from '../connector.ts';
import { changedSince, inPasses } from '../passes.ts';
import { Problem } from '../problem.ts';
import { at, idAt, itemsAt, namesOf } from '../read.ts';
import {
  type Api,
  beganIn,
  dayOf,
  daysAround,
  firstPage,
  groups,
  type List,
  nextPlace,
  type PagePosition,
  page,
  type Query,
  stretchOf,
} from './api.ts';
import { driverRecord, tripRecord, vehicleOf, vehicleRecord } from './records.ts';

export const overlapMs = 5 * 60_000;

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
    const place = (pass.place as PagePosition | null) ?? firstPage;
    const first = dayOf(Math.min(pass.from, pass.beganAt)) - tripDays * dayMs;
    const { query, isLast } = stretchOf(place, { first, last: dayOf(pass.beganAt) + dayMs });
    const changed = { ...query, updated_after: changedSince(pass) };
    const { items, next } = await page(api, periods, changed, place.page);
    return { ...tripsOf(items), next: nextPlace(place, { next, isLast }) };
  },
  history: {
    windowDays: 14,
    async page(api, window, place) {
      const { items, next } = await page(api, periods, daysAround(window), place);
      return { ...tripsOf(items.filter(beganIn(window))), next };
    },
  },
});
