import { dayMs, hourMs } from '../../../core/platform/durations.ts';
import {
  type Connector,
  type Json,
  ProviderError,
  type ProviderErrorKind,
  type Window,
} from '../connector/connector.ts';
import type { OpenCrash } from '../connector/crash.ts';
import { changedSince, inPasses, listFeed, type Pass } from '../connector/passes.ts';
import { wantedNames } from '../connector/pick.ts';
import { at, idAt, idFrom, iso, itemsAt, namesOf } from '../connector/read.ts';
import { isHmac } from '../connector/signature.ts';
import { type Api, type List, page, type Query, windowPage } from './api.ts';
import { type Crashes, eventRecords, lookUp, performance, reportLink } from './crashes.ts';
import { driverRecord, speedingRecord, tripRecord, vehicleOf, vehicleRecord } from './records.ts';

const companies: List = { path: '/v1/companies', many: 'companies', one: 'company' };
const groups: List = { path: '/v1/groups', many: 'groups', one: 'group' };
const users: List = { path: '/v1/users', many: 'users', one: 'user' };
const vehicles: List = { path: '/v1/vehicles', many: 'vehicles', one: 'vehicle' };
const periods: List = {
  path: '/v1/driving_periods',
  many: 'driving_periods',
  one: 'driving_period',
};
const speeding: List = {
  path: '/v1/speeding_events',
  many: 'speeding_events',
  one: 'speeding_event',
};

const overlapMs = 5 * 60_000;

/** The page of a pass of a list. Motive's filter by change may miss something. */
const changesOf = (list: List, query: Query) => (api: Api, pass: Pass) =>
  page(api, list, { ...query, updated_after: changedSince(pass) }, pass.position);

/** The names of these vehicles' groups. */
const groupNames = (api: Api, items: unknown[]): Promise<Map<unknown, unknown>> =>
  namesOf(
    items.flatMap((item) => itemsAt(item, 'group_ids')),
    (position) => page(api, groups, {}, position),
    (group) => at(group, 'name') ?? idAt(group, 'id'),
  );

/** A window until after the pass, which begins that long before what it has to read. */
const recent = ({ from, beganAt }: Pass, ms: number): Window => ({
  from: Math.min(from, beganAt) - ms,
  to: beganAt + dayMs,
});

/** Trips have no time of change: those of so many days are read again, once a day. */
const tripDays = 3;

async function tripPage(api: Api, window: Window, position: Json, query?: Query) {
  const { items, next } = await windowPage(api, periods, window, position, query);
  return { records: items.map(tripRecord), vehicles: items.map(vehicleOf), next };
}

/** Motive's filter by change also needs the days of the events, which are changed for days. */
const changedDays = 3;

/** Speeding has no filter by change: that of so long is read each minute. */
const speedingMs = 2 * hourMs;

/** How often all events of the last days are read again, so that late and changed ones are found. */
const wholeMs = 6 * hourMs;
const wholeDays = 30;

/** How often crashes are looked up while a pass goes on, or cannot. */
const lookUpMs = 30_000;

/** A position in the two lists of events, and when crashes were looked up (milliseconds since 1970). */
type EventPosition = { list: number; position: Json; lookedAt?: number };

const eventLists = [performance, speeding];
const firstEvents: EventPosition = { list: 0, position: null };

type Read = { items: unknown[]; next: Json | undefined; problem?: ProviderError };

/**
 * The records of a page of a list, and the place after it: in the next list after the last page. Crashes do not wait
 * for a list of others that fails in one of these ways.
 */
async function eventPage(
  { list, position, ...looked }: EventPosition,
  open: OpenCrash[],
  mayFail: ProviderErrorKind[],
  read: (list: List, position: Json) => Promise<Read>,
) {
  const unlessNeeded = (problem: unknown): Read => {
    const isNeeded = !(problem instanceof ProviderError && mayFail.includes(problem.kind));
    if (isNeeded || list === 0) throw problem;
    return { items: [], next: undefined, problem };
  };
  const { items, next, problem } = await read(eventLists[list] ?? performance, position).catch(
    unlessNeeded,
  );
  const isAtEnd = next === undefined;
  const after = { list: isAtEnd ? list + 1 : list, position: next ?? null, ...looked };
  const now = Date.now();
  return {
    records:
      eventLists[list] === speeding
        ? items.map(speedingRecord)
        : items.flatMap((item) => eventRecords(item, now, open)),
    vehicles: items.map(vehicleOf),
    next: after.list < eventLists.length ? after : undefined,
    problem,
  };
}

/** A page of what a pass reads of a list of events. */
async function changedEvents(api: Api, list: List, pass: Pass, position: Json) {
  if (pass.isWhole) {
    const { from, to } = recent(pass, wholeDays * dayMs);
    return windowPage(api, list, { from: Math.max(pass.since, from), to }, position);
  }
  if (list === performance) {
    const changed = { updated_after: iso(pass.from - overlapMs) };
    return windowPage(api, list, recent(pass, changedDays * dayMs), position, changed);
  }
  const { items, next, isPast } = await windowPage(api, list, recent(pass, speedingMs), position);
  return { items, next: isPast ? undefined : next };
}

const wanted = wantedNames(
  `
    companies company groups group users user vehicles vehicle driving_periods driving_period
    speeding_events speeding_event driver_performance_events driver_performance_event pagination
    per_page total id name number status updated_at vin make model year fuel_type
    license_plate_number group_ids role first_name last_name username email phone phone_country_code
    drivers_license_number drivers_license_state driver start_time end_time duration origin
    origin_lat origin_lon destination destination_lat destination_lon start_kilometers
    end_kilometers type lat lon location start_speed end_speed max_speed acceleration metadata
    severity primary_behavior secondary_behaviors coaching_status coached_at camera_media available
    downloadable_videos start_lat start_lon max_vehicle_speed max_over_speed_in_kph
    min_posted_speed_limit_in_kph max_posted_speed_limit_in_kph
  `,
  { downloadable_videos: 4 },
);

/** Motive. Comments say how certain its API's behaviour is. */
export const motive: Connector<Api> = {
  provider: 'motive',
  name: 'Motive',
  baseUrl: 'https://api.gomotive.com',
  regions: {},
  credential: {
    label: 'API key',
    where: 'In Motive: Admin → Developers → API Keys → Create API Key',
    scopes: [
      'vehicles',
      'users',
      'companies',
      'driving periods',
      'driver performance events',
      'speeding events',
    ],
    example: '01a2b3c4-…',
  },
  maxHistoryDays: 365,
  wanted,
  open: (access) => access,
  reportLink,
  async check(api) {
    const { items } = await page(api, companies, {}, null);
    return { name: at(items[0], 'name'), id: idFrom(at(items[0], 'id')) };
  },
  feeds: {
    vehicles: listFeed(overlapMs, changesOf(vehicles, {}), async (items, api) => {
      const names = await groupNames(api, items);
      return items.map((item) => vehicleRecord(item, names));
    }),
    // Without the filter all users are returned; the result shows whether it is respected.
    drivers: listFeed(overlapMs, changesOf(users, { role: 'driver' }), (items) =>
      items.filter((item) => (at(item, 'role') ?? 'driver') === 'driver').map(driverRecord),
    ),
    trips: inPasses<Api>({
      everyMinutes: 5,
      overlapMs,
      read: (api, pass) =>
        tripPage(api, recent(pass, tripDays * dayMs), pass.position, {
          updated_after: changedSince(pass),
        }),
      history: { windowDays: 11, page: tripPage },
    }),
    // Each minute the crashes are looked up, then changes of both lists are read.
    events: inPasses<Api, Crashes>({
      everyMinutes: 1,
      overlapMs,
      wholeMs,
      async read(api, pass, kept = { open: [], lookedAt: 0 }) {
        const before = (pass.position as EventPosition | null) ?? firstEvents;
        const now = Date.now();
        const isDue = now - (before.lookedAt ?? 0) >= lookUpMs;
        const looked = isDue ? await lookUp(api, kept, now) : undefined;
        const crashes = looked?.crashes ?? kept;
        const position = looked ? { ...before, lookedAt: now } : before;
        // Stored before anything else is asked, which may fail.
        if (looked && looked.records.length > 0)
          return { ...looked, next: position, kept: crashes };
        const mayFail: ProviderErrorKind[] = ['not permitted', 'unavailable', 'unexpected'];
        const found = await eventPage(position, crashes.open, mayFail, (list, within) =>
          changedEvents(api, list, pass, within),
        );
        return { ...found, kept: crashes };
      },
      history: {
        windowDays: 7,
        page: (api, window, position) =>
          eventPage(
            (position as EventPosition | null) ?? firstEvents,
            [],
            ['not permitted'],
            (list, within) => windowPage(api, list, window, within),
          ),
      },
    }),
  },
  webhook: {
    steps: [
      'In Motive, open Admin → Developers → Webhooks and add a webhook with this URL, in the format JSON.',
      'Choose a secret of 20 characters, and enter the same one here.',
      'Choose the actions driver_performance_event_created, driver_performance_event_updated and ' +
        'speeding_event_created.',
    ],
    // The time is not signed, so calls can be replayed, which only makes the pull due.
    isSigned: (headers, body, secret) =>
      isHmac('SHA-1', [body], () => ({
        key: new Uint8Array(new TextEncoder().encode(secret)),
        signature: Uint8Array.fromHex(headers.get('x-kt-webhook-signature') ?? ''),
      })),
  },
};
