import type { Json, Window } from '../connector.ts';
import { follow, type OpenCrash } from '../crash.ts';
import { changedSince, inPasses } from '../passes.ts';
import { Problem } from '../problem.ts';
import { at, iso, itemsAt, namesOf } from '../read.ts';
import { type Api, organisationOf, page, type Query } from './api.ts';
import { crashOf, driverRecord, eventRecord, idOf, tripRecord, vehicleOf, vehicleRecord } from './records.ts';

/** Passes overlap by this. Terminal filters only by when it received something. */
const overlapMs = 60_000;

/** Each pass first asks whether Terminal is still connected, because nothing new arrives otherwise. */
export const vehicles = inPasses<Api>({
  everyMinutes: 15,
  overlapMs,
  async read(api, pass) {
    const { problem } = pass.place === null ? await organisationOf(api) : {};
    if (problem) throw new Problem('unavailable', problem);
    const query = { modifiedAfter: changedSince(pass), deleted: true };
    const { items, next } = await page(api, '/vehicles', query, pass.place);
    const names = await groupNames(api, items);
    return { records: items.map((item) => vehicleRecord(item, names)), next };
  },
});

/** Deleted ones are only listed on request. */
export const drivers = inPasses<Api>({
  everyMinutes: 15,
  overlapMs,
  async read(api, pass) {
    const query = { modifiedAfter: changedSince(pass), deleted: true };
    const { items, next } = await page(api, '/drivers', query, pass.place);
    return { records: items.map(driverRecord), next };
  },
});

async function tripPage(...asked: Parameters<typeof page>) {
  const { items, next } = await page(...asked);
  return { records: items.map(tripRecord), next };
}

export const trips = inPasses<Api>({
  everyMinutes: 5,
  overlapMs,
  read: (api, { from, place }) => tripPage(api, '/trips', { modifiedAfter: iso(from) }, place),
  history: {
    windowDays: 14,
    page: (api, window, place) => tripPage(api, '/trips', startedIn(window), place),
  },
});

/** What began in a window; whether its end is inclusive is unknown. */
const startedIn = ({ from, to }: Window) => ({
  startedAfter: iso(from - 1),
  startedBefore: iso(to),
});

/** The names of these vehicles' groups. */
function groupNames(api: Api, items: unknown[]): Promise<Map<unknown, unknown>> {
  return namesOf(
    items.flatMap((item) => itemsAt(item, 'groups').map(idOf)),
    (place) => page(api, '/groups', {}, place),
    (group) => at(group, 'name') ?? [],
  );
}

/** Safety events, which Terminal often receives hours late. */
export const events = inPasses<Api, OpenCrash[]>({
  everyMinutes: 1,
  overlapMs,
  /** Crashes that may still become something else are kept. */
  read: (api, { from, place }, kept = []) => eventPage(api, { modifiedAfter: iso(from) }, place, kept),
  history: {
    windowDays: 7,
    isExact: true,
    page: (api, window, place) => eventPage(api, startedIn(window), place, []),
  },
});

/**
 * Events come with their vehicles, whose VINs accidents need, and with the records of the provider behind Terminal,
 * which say what came of a crash. These can be long, so pages are small: each may have 100 KiB before a page is too large.
 */
const asked = { expand: 'vehicle', raw: true, limit: 20 };

async function eventPage(api: Api, query: Query, place: Json, known: OpenCrash[]) {
  const { items, next } = await page(api, '/safety/events', { ...query, ...asked }, place);
  const { records, open } = follow(items, known, Date.now(), (item) => ({
    event: eventRecord(item, api.access.incidentTypeMap),
    crash: crashOf(item),
  }));
  return { records, vehicles: items.flatMap(vehicleOf), next, kept: open };
}
