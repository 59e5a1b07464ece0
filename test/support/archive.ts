import { env } from 'cloudflare:workers';
import type { DayOf } from '../../src/fleet/archive/bucket.ts';
import { inArchive } from '../../src/fleet/archive/catalog.ts';
import { dayOf } from '../../src/fleet/archive/day.ts';
import { type Sizes, usualSizes } from '../../src/fleet/archive/files.ts';
import { moveDay } from '../../src/fleet/archive/job.ts';
import type { ArchiveKind } from '../../src/fleet/lists/archived.ts';
import type { safetyEvents } from '../../src/fleet/lists/safety-events.ts';
import { trips } from '../../src/fleet/lists/trips.ts';
import { readList } from '../../src/fleet/service.ts';
import type { Caller } from '../../src/platform/db/guard.ts';
import { through } from '../../src/platform/db/through.ts';
import { newBudget } from '../../src/platform/jobs/budget.ts';
import { rows } from './rows.ts';
import { allPages, type World } from './world.ts';

/** The service's bindings without a bucket, as deployments without an archive have them. */
export const withoutArchive: Env = { ...env, ARCHIVE: undefined as unknown as R2Bucket }; // as if not bound

/** The archive's bucket. */
export const bucket = env.ARCHIVE;

/** How trips are archived. */
export const tripKind = kindOf(trips);
export function kindOf({ list }: typeof trips | typeof safetyEvents): ArchiveKind {
  if (!list.archive) throw new Error(`${list.path} is not archived`);
  return list.archive;
}

/** Puts trips into the database as they are; returns their ids. */
export async function insertTrips(
  us: World,
  seeds: { startedAt: number; vehicle?: string; driver?: string | null; connection?: number; id?: string }[],
): Promise<string[]> {
  const values = seeds.map(({ id = crypto.randomUUID(), connection = 0, ...seed }) => ({
    ...seed,
    id,
    connection: us.connections[connection]?.id,
  }));
  await rows(
    `insert into trips (id, account_id, connection_id, source_id, vehicle_id, driver_id, started_at, start_location,
       distance_km, created_at, updated_at)
     select value->>'id', ?2, value->>'connection', value->>'id', coalesce(value->>'vehicle', value->>'id'),
       value->>'driver', value->>'startedAt', '{"latitude":1.5,"longitude":-2}', 12.25, 5, 7 from json_each(?1)`,
    JSON.stringify(values),
    us.accountId,
  );
  return values.map(({ id }) => id);
}

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
    kind = tripKind,
    connection = 0,
    sizes = usualSizes,
    bindings = env,
  }: { kind?: ArchiveKind; connection?: number; sizes?: Sizes; bindings?: Env } = {},
): Promise<void> {
  const connectionId = us.connections[connection]?.id ?? '';
  const day: DayOf = { kind: kind.name, accountId: us.accountId, connectionId, day: dayOf(at) };
  const done = await inArchive(bindings, (lease) =>
    moveDay({ bucket: bindings.ARCHIVE, kind, day, lease, sizes }, newBudget()),
  );
  if (done === 'busy') throw new Error('somebody else changes the archive');
}

/** Bindings that fail for good before the `steps`th change of the database or the bucket, as if the Worker were killed. */
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

/** Reads a list to its end, and returns its items and how long each page was. `meanwhile` happens after each page. */
export async function walk(
  bindings: Env,
  caller: Caller,
  list: Parameters<typeof readList>[2],
  request: { connectionId?: string | undefined; query: Record<string, string[]>; descending?: boolean },
  meanwhile = async () => {},
) {
  const pages = await allPages(async (cursor) => {
    const query = { ...request.query, ...(cursor && { cursor: [cursor] }) };
    const page = await readList(bindings, caller, list, { connectionId: undefined, ...request, query });
    await meanwhile();
    return page;
  });
  return { items: pages.flatMap(({ items }) => items), pages: pages.map(({ items }) => items.length) };
}
