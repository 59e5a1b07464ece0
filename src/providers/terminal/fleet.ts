import type { Window } from '../connector.ts';
import { changedSince, inPasses } from '../passes.ts';
import { Problem } from '../problem.ts';
import { at, iso, itemsAt, namesOf } from '../read.ts';
import { type Api, page, problemOf } from './api.ts';
import { driverRecord, idOf, tripRecord, vehicleRecord } from './records.ts';

/** Passes overlap by this. Terminal filters only by when it received something. */
export const overlapMs = 60_000;

/** Each pass first asks whether Terminal is still connected, because nothing new arrives otherwise. */
export const vehicles = inPasses<Api>({
  everyMinutes: 15,
  overlapMs,
  async read(api, pass) {
    const problem = pass.place === null ? await problemOf(api) : undefined;
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
export const startedIn = ({ from, to }: Window) => ({
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
