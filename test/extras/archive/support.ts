import { env } from 'cloudflare:workers';
import type { ArchiveKind } from '#src/core/fleet/lists/list.ts';
import { safetyEvents } from '#src/core/fleet/lists/safety-events.ts';
import { trips } from '#src/core/fleet/lists/trips.ts';
import { newBudget } from '#src/core/platform/jobs/budget.ts';
import { type DayOf, dayOf } from '#src/extras/archive/bucket.ts';
import { inArchive } from '#src/extras/archive/catalog.ts';
import { type Sizes, usualSizes } from '#src/extras/archive/files.ts';
import { moveDay } from '#src/extras/archive/job.ts';
import { readAcross } from '#src/extras/archive/lists.ts';
import {
  insertRecords,
  insertTrips,
  type RecordTable,
  rows,
  through,
  type World,
  walkPages,
} from '#test/support.ts';

export { insertRecords, insertTrips };

/** The service's bindings without a bucket, as deployments without an archive have them. */
export const withoutArchive: Env = { ...env, ARCHIVE: undefined as unknown as R2Bucket }; // as if not bound

export const bucket = env.ARCHIVE;

/** The names of files in the bucket that have this in them. */
export const files = async (part = '') =>
  (await bucket.list()).objects.map(({ key }) => key).filter((key) => key.includes(part));

export const listsOf = { trips: trips.list, safety_events: safetyEvents.list };

/** Forgets everything that was archived and everything that would be. */
export async function emptyArchive() {
  for (const table of ['archived_days', 'jobs', 'trips', 'safety_events', 'accidents'])
    await rows(`delete from ${table}`);
  await bucket.delete(await files());
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
  }: { table?: RecordTable; connection?: number; sizes?: Sizes; bindings?: Env } = {},
) {
  const kind = listsOf[table].archive as ArchiveKind; // both are archived
  const connectionId = us.connections[connection]?.id ?? '';
  const day: DayOf = { kind: kind.name, accountId: us.accountId, connectionId, day: dayOf(at) };
  const done = await inArchive(bindings, (lease) =>
    moveDay({ bucket: bindings.ARCHIVE, kind, day, lease, sizes }, newBudget({ ms: 300_000 })),
  );
  if (done === 'busy') throw new Error('somebody else changes the archive');
}

/** Bindings that fail before the `steps`th change of D1 or R2, as if the Worker were killed. */
export function interruptedAfter(steps: number) {
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

/** `walkPages` of D1 and the archive. */
export const walk = walkPages.bind(null, readAcross);

/** All trips of an account, as its list shows them. */
export const listedTrips = async (us: World, bindings = env) => {
  const { items } = await walk(bindings, us, trips.list, { query: {} });
  return items as (Record<string, unknown> & { id: string })[]; // as the list shows them
};
