import { dayMs } from '../../platform/durations.ts';
import type { Feed, ProviderRecord } from '../connector.ts';
import { at, field, iso } from '../read.ts';
import { feed, get, versionNow, walk } from './lists.ts';
import { driverRecord, isVehicle, tripRecord, vehicleRecord } from './records.ts';
import type { Api } from './rpc.ts';

/** Devices have many fields: this makes a response of about a megabyte. */
const perPage = 250;
const tripsPerPage = 500;

/**
 * The progress of a list: the version up to which changes are known, and the next id while all of it is read.
 * `walkedAt` is when that last began.
 */
type Walk = { version: string; walkedAt: number; after?: string | null };

/**
 * A feed of a short list. At first and once a day it reads all of it, because Geotab does not always report deletions
 * and expiries; otherwise it reads changes.
 */
const walks = (
  typeName: string,
  search: object | undefined,
  records: (api: Api, items: unknown[]) => Promise<ProviderRecord[]>,
): Feed<Api> => ({
  everyMinutes: 15,
  async changes(api, cursor) {
    const at = await placeOf(api, typeName, cursor as Walk | null);
    const { version, walkedAt, after } = at;
    if (after !== undefined) {
      const found = await walk(api, typeName, { after, limit: perPage, ...(search && { search }) });
      const next = found.next === undefined ? { version, walkedAt } : { ...at, after: found.next };
      return { records: await records(api, found.items), cursor: next, more: true };
    }
    const found = await feed(api, typeName, { version }, perPage);
    const next = { version: found.version, walkedAt };
    return { records: await records(api, found.items), cursor: next, more: found.more };
  },
});

/** The version is read before the list, so that changes meanwhile are read again. */
async function placeOf(api: Api, typeName: string, cursor: Walk | null): Promise<Walk> {
  const now = Date.now();
  if (!cursor) return { version: await versionNow(api, typeName), walkedAt: now, after: null };
  const isDue = cursor.after === undefined && now - cursor.walkedAt > dayMs;
  return isDue ? { ...cursor, walkedAt: now, after: null } : cursor;
}

export const vehicles = walks('Device', undefined, async (api, items) => {
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
export const drivers = walks('User', { isDriver: true }, async (_, items) =>
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
