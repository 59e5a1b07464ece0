import type { Feed, ProviderRecord } from '../connector.ts';
import { inPasses } from '../passes.ts';
import { at, field, iso } from '../read.ts';
import { driverRecord, isVehicle, tripRecord, vehicleRecord } from './records.ts';
import { type Api, feed, get, versionNow, walk } from './rpc.ts';

/** Devices have many fields: this makes a response of about a megabyte. */
const perPage = 250;
const tripsPerPage = 500;

/**
 * A feed of a short list. At first and once a day it reads all of it, because Geotab does not always report deletions
 * and expiries; otherwise it reads changes, by their version.
 */
const listFeed = (
  typeName: string,
  search: object | undefined,
  records: (api: Api, items: unknown[]) => Promise<ProviderRecord[]>,
): Feed<Api> =>
  inPasses<Api, string>({
    everyMinutes: 15,
    overlapMs: 0,
    async read(api, { isWhole, place }, version) {
      if (!isWhole && version !== undefined) {
        const { items, version: kept, more } = await feed(api, typeName, { version }, perPage);
        return { records: await records(api, items), next: more ? kept : undefined, kept };
      }
      // Read before the list, so that changes meanwhile are read again.
      const kept = place === null ? await versionNow(api, typeName) : (version ?? '');
      const { items, next } = await walk(api, typeName, {
        after: place,
        limit: perPage,
        ...(search && { search }),
      });
      return { records: await records(api, items), next, kept };
    },
  });

export const vehicles = listFeed('Device', undefined, async (api, items) => {
  const own = items.filter(isVehicle);
  const names = own.length > 0 ? await groupNames(api) : new Map<string, string>();
  return own.map((item) => vehicleRecord(item, names));
});

/** The names of the customer's groups. Those that every database has begin with `Group`. */
async function groupNames(api: Api): Promise<Map<string, string>> {
  const groups = await get(api, 'Group');
  return new Map(
    groups.flatMap((group): [string, string][] => {
      const [id, name] = [field(group, 'id'), field(group, 'name')];
      const isOwn = typeof id === 'string' && !id.startsWith('Group');
      return isOwn && typeof name === 'string' ? [[id, name.trim()]] : [];
    }),
  );
}

/** The feed has all users, including those who do not drive. */
export const drivers = listFeed('User', { isDriver: true }, async (_, items) =>
  items.filter((item) => at(item, 'isDriver') === true).map(driverRecord),
);

export const trips: Feed<Api> = {
  everyMinutes: 5,
  async changes(api, cursor, since) {
    const version = cursor as string | null;
    const from = version === null ? { since } : { version };
    const found = await feed(api, 'Trip', from, tripsPerPage);
    return { records: found.items.map(tripRecord), cursor: found.version, more: found.more };
  },
  history: {
    windowDays: 7,
    // The window is by end time.
    async page(api, { from, to }, after) {
      const search = { fromDate: iso(from), toDate: iso(to) };
      const { items, next } = await walk(api, 'Trip', { after, search, limit: tripsPerPage });
      return { records: items.map(tripRecord), next };
    },
  },
};
