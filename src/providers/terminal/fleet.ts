import type { Feed } from '../connector.ts';
import { Problem } from '../problem.ts';
import { at } from '../read.ts';
import {
  type Api,
  afterPage,
  beginPass,
  changedSince,
  iso,
  type Passes,
  page,
  passesFrom,
  problemOf,
} from './api.ts';
import { driverRecord, idOf, tripRecord, vehicleRecord } from './records.ts';

/** A page of ours may be several of Terminal's, which all end within this. */
const endMs = 18_000;

/** More pages of groups than these are not looked through for the names of a page of vehicles. */
const mostGroupPages = 5;

/** A page of vehicles or drivers. What was removed is only listed on request. */
async function changesOf(api: Api, path: string, passes: Passes) {
  const pass = beginPass(passes, Date.now(), { isDaily: true });
  const query = { ...changedSince(passes, pass), deleted: true };
  const { items, next } = await page(api, path, query, pass.after);
  return { items, cursor: afterPage(passes, pass, next), more: next !== null };
}

/** Each pass of vehicles begins by asking whether Terminal is still connected: while it is not, nothing new comes. */
export const vehicles: Feed<Api> = {
  everyMinutes: 15,
  async changes(access, cursor) {
    const api = { ...access, until: Date.now() + endMs };
    const passes = (cursor as Passes | null) ?? passesFrom(null);
    const problem = passes.pass ? undefined : await problemOf(api);
    if (problem) throw new Problem('unavailable', problem);
    const read = await changesOf(api, '/vehicles', passes);
    const names = await groupNames(api, read.items);
    return {
      records: read.items.map((item) => vehicleRecord(item, names)),
      cursor: read.cursor,
      more: read.more,
    };
  },
};

export const drivers: Feed<Api> = {
  everyMinutes: 15,
  async changes(api, cursor) {
    const read = await changesOf(api, '/drivers', (cursor as Passes | null) ?? passesFrom(null));
    return { records: read.items.map(driverRecord), cursor: read.cursor, more: read.more };
  },
};

export const trips: Feed<Api> = {
  everyMinutes: 5,
  async changes(api, cursor, since) {
    const passes = (cursor as Passes | null) ?? passesFrom(since - 60_000);
    const pass = beginPass(passes, Date.now());
    const { items, next } = await page(api, '/trips', changedSince(passes, pass), pass.after);
    return { records: items.map(tripRecord), cursor: afterPage(passes, pass, next), more: next !== null };
  },
  history: {
    windowDays: 14,
    async page(api, window, cursor) {
      const { items, next } = await page(api, '/trips', startedIn(window), cursor);
      return { records: items.map(tripRecord), cursor: next, more: next !== null };
    },
  },
};

/** What began in a window; whether the first moment belongs to what began after it is not known. */
export const startedIn = ({ from, to }: { from: number; to: number }) => ({
  startedAfter: iso(from - 1),
  startedBefore: iso(to),
});

/** The names of the groups that these vehicles are in. */
async function groupNames(api: Api, items: unknown[]): Promise<Map<unknown, unknown>> {
  const wanted = new Set(
    items.flatMap((item) => {
      const groups = at(item, 'groups');
      return Array.isArray(groups) ? groups.map(idOf) : [];
    }),
  );
  const names = new Map<unknown, unknown>();
  let after: string | null = null;
  for (let pages = 0; names.size < wanted.size && pages < mostGroupPages; pages++) {
    const found: Awaited<ReturnType<typeof page>> = await page(api, '/groups', {}, after);
    for (const group of found.items)
      if (wanted.has(at(group, 'id'))) names.set(at(group, 'id'), at(group, 'name') ?? []);
    after = found.next;
    if (after === null) break;
  }
  return names;
}
