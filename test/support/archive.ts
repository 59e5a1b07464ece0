import { env } from 'cloudflare:workers';
import type { ArchiveKind } from '../../src/core/fleet/lists/list.ts';
import { safetyEvents } from '../../src/core/fleet/lists/safety-events.ts';
import { trips } from '../../src/core/fleet/lists/trips.ts';
import { readList } from '../../src/core/fleet/service.ts';
import type { Caller } from '../../src/core/platform/db/guard.ts';
import { through } from '../../src/core/platform/db/through.ts';
import { newBudget } from '../../src/core/platform/jobs/budget.ts';
import { type DayOf, dayOf } from '../../src/extras/archive/bucket.ts';
import { inArchive } from '../../src/extras/archive/catalog.ts';
import { type Sizes, usualSizes } from '../../src/extras/archive/files.ts';
import { moveDay } from '../../src/extras/archive/job.ts';
import { readAcross } from '../../src/extras/archive/lists.ts';
import { addRows, rows } from './rows.ts';
import { allPages, type World } from './world.ts';

/** The service's bindings without a bucket, as deployments without an archive have them. */
export const withoutArchive: Env = { ...env, ARCHIVE: undefined as unknown as R2Bucket }; // as if not bound

export const bucket = env.ARCHIVE;

/** A record of the database, of a vehicle of its own unless one is named. */
export type RecordSeed = {
  startedAt: number;
  vehicle?: string;
  driver?: string | null;
  risk?: number;
  connection?: number;
  id?: string;
};

const details = {
  trips: () => ({ start_location: '{"latitude":1.5,"longitude":-2}', distance_km: 12.25 }),
  safety_events: ({ risk = 1 }: RecordSeed) => ({
    tsp: 'Motive',
    translated_incident_types: '["Speeding"]',
    event_risk: risk,
  }),
};

/** Puts records into the database as they are; returns their ids. */
export async function insertRecords(table: keyof typeof details, us: World, seeds: RecordSeed[]) {
  const ids = seeds.map(({ id = crypto.randomUUID() }) => id);
  await addRows(table, seeds.length, (i) => {
    const { startedAt, vehicle, driver, connection = 0 } = seeds[i] as RecordSeed; // one for each row
    return {
      ...{ id: ids[i], account_id: us.accountId, connection_id: us.connections[connection]?.id },
      ...{ source_id: ids[i], created_at: 5, updated_at: 7, started_at: startedAt },
      ...{ vehicle_id: vehicle ?? ids[i], driver_id: driver ?? null },
      ...details[table](seeds[i] as RecordSeed),
    };
  });
  return ids;
}

export const insertTrips = (us: World, seeds: RecordSeed[]): Promise<string[]> =>
  insertRecords('trips', us, seeds);

export const listsOf = { trips: trips.list, safety_events: safetyEvents.list };

/** Forgets everything that was archived and everything that would be. */
export async function emptyArchive(): Promise<void> {
  for (const table of ['archived_days', 'jobs', 'trips', 'safety_events', 'accidents'])
    await rows(`delete from ${table}`);
  const { objects } = await bucket.list();
  await bucket.delete(objects.map(({ key }) => key));
}

/** Moves the day of a time of a connection, or goes on with it. `bindings` may fail midway. */
export async function move(
  us: World,
  at: number,
  {
    table = 'trips',
    connection = 0,
    sizes = usualSizes,
    bindings = env,
  }: { table?: keyof typeof details; connection?: number; sizes?: Sizes; bindings?: Env } = {},
): Promise<void> {
  const kind = listsOf[table].archive as ArchiveKind; // both are archived
  const connectionId = us.connections[connection]?.id ?? '';
  const day: DayOf = { kind: kind.name, accountId: us.accountId, connectionId, day: dayOf(at) };
  const done = await inArchive(bindings, (lease) =>
    moveDay({ bucket: bindings.ARCHIVE, kind, day, lease, sizes }, newBudget({ ms: 300_000 })),
  );
  if (done === 'busy') throw new Error('somebody else changes the archive');
}

/** Bindings that fail before the `steps`th change of D1 or R2, as if the Worker were killed. */
export function interruptedAfter(steps: number): Env {
  let left = steps;
  const step = () => {
    if (left-- <= 0) throw new Error('interrupted');
  };
  const ARCHIVE = new Proxy(env.ARCHIVE, {
    get: (target, name) => {
      if (name !== 'put' && name !== 'delete') return Reflect.get(target, name).bind(target);
      return (...args: unknown[]) => {
        step();
        return Reflect.apply(target[name], target, args);
      };
    },
  });
  const DB = through(env.DB, async (run, _, isBatch) => {
    if (isBatch) step();
    return run();
  });
  return { ...env, ARCHIVE, DB };
}

/** Lets a lease lapse whose holder was interrupted. */
export const lapse = () => rows('update jobs set leased_until = 0');

/** Reads a list to its end: its items, and the lengths of pages, after which `meanwhile` happens. */
export async function walk(
  bindings: Env,
  caller: Caller,
  list: Parameters<typeof readList>[2],
  request: {
    connectionId?: string | undefined;
    query: Record<string, string[]>;
    descending?: boolean;
  },
  meanwhile = async () => {},
) {
  const pages = await allPages(async (cursor) => {
    const query = { ...request.query, ...(cursor && { cursor: [cursor] }) };
    const asked = { connectionId: undefined, ...request, query };
    const page = await readList(bindings, caller, list, asked, readAcross);
    await meanwhile();
    return page;
  });
  return {
    items: pages.flatMap(({ items }) => items),
    pages: pages.map(({ items }) => items.length),
  };
}
