import { sql } from 'drizzle-orm';
import { type Database, openDatabase } from '../../platform/db/database.ts';
import { andNotMoving } from '../../platform/db/moving.ts';
import { dayMs } from '../../platform/durations.ts';
import { nameOf } from '../../platform/homes/homes.ts';
import { type Budget, isLeft, newBudget } from '../../platform/jobs/budget.ts';
import { described, fault } from '../../platform/log.ts';
import type { ArchiveKind } from '../lists/archived.ts';
import { archiveKinds } from '../lists/registry.ts';
import { bucketOf, type DayOf } from './bucket.ts';
import { inArchive } from './catalog.ts';
import { dayOf, firstHotDay } from './day.ts';
import { moveDay } from './move.ts';
import { oldestRows } from './rows.ts';
import { type Move, usualSizes } from './write.ts';

/** How many connections with old rows are handled at a time; each has a day moved before any has two. */
const connectionsAtATime = 20;

/**
 * Archives days that are no longer hot, the oldest of each connection first. Does nothing while the archive is being
 * changed.
 */
export async function archive(env: Env, now = Date.now(), budget = newBudget()): Promise<void> {
  const bucket = bucketOf(env);
  const before = firstHotDay(env, now);
  if (!bucket || before === -Infinity) return;
  if ((await daysToMove(env, openDatabase(env), before * dayMs)).length === 0) return;
  await inArchive(env, (lease) => run(env, { lease, bucket, sizes: usualSizes }, before * dayMs, budget));
}

/** Works until there is nothing to do. A connection that fails is left for the next run. */
async function run(
  env: Env,
  shared: Omit<Move, 'kind' | 'day'>,
  before: number,
  budget: Budget,
): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const found = await daysToMove(env, shared.lease.db, before);
    const days = found.filter(({ day }) => !failed.has(day.kind + day.connectionId));
    if (days.length === 0) return;
    for (const { kind, day } of days) {
      if (!isLeft(budget)) return;
      await moveDay({ ...shared, kind, day }, budget).catch((error: unknown) => {
        failed.add(day.kind + day.connectionId);
        const { connectionId } = day;
        fault('error', {
          message: 'A job failed',
          job: 'archive',
          home: nameOf(env),
          connectionId,
          ...described(error),
        });
      });
    }
  }
}

type Due = { kind: ArchiveKind; day: DayOf };

/** The oldest day of each of some connections, for each kind. */
async function daysToMove(env: Env, db: Database, before: number): Promise<Due[]> {
  const due: Due[] = [];
  const also = andNotMoving(env, sql`c.account_id`);
  for (const kind of archiveKinds)
    for (const { oldest, ...owner } of await oldestRows(db, kind, before, connectionsAtATime, also))
      due.push({ kind, day: { kind: kind.name, ...owner, day: dayOf(oldest) } });
  return due;
}
