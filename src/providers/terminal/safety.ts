import type { Json } from '../connector.ts';
import { follow, type OpenCrash } from '../crash.ts';
import { inPasses } from '../passes.ts';
import { iso } from '../read.ts';
import { type Api, page, type Query } from './api.ts';
import { crashOf } from './crashes.ts';
import { overlapMs, startedIn } from './fleet.ts';
import { eventRecord, vehicleOf } from './records.ts';

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
