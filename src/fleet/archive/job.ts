import { sql } from 'drizzle-orm';
import { type Database, openDatabase } from '../../platform/db/database.ts';
import { andNotMoving } from '../../platform/db/moving.ts';
import { described, fault } from '../../platform/log.ts';
import type { ArchiveKind } from '../lists/archived.ts';
import { bucketOf, type DayOf } from './bucket.ts';
import { openEntries } from './catalog.ts';
import { dayMs, dayOf, firstHotDay } from './day.ts';
import { moveDay } from './move.ts';
import { oldestRows } from './rows.ts';
import { inArchiveTurn, type Turn } from './turn.ts';
import { usualSizes } from './write.ts';

/** For how long a run works. What is left is for the next one, a minute later. */
const longestRunMs = 15_000;

/** After so many writes a run ends: D1 takes 1,000 queries of an invocation, and there are reads besides. */
const maxQueries = 500;

/** How many connections with old rows are looked up at a time; each has a day moved before any has two. */
const connectionsAtATime = 20;

/**
 * Moves days that are no longer hot to the archive, the oldest of each connection first, for some seconds. Does
 * nothing while another run is at it. Never throws: a failure is logged, and the next run tries again.
 */
export async function archive(
  env: Env,
  kinds: ArchiveKind[],
  { now = Date.now(), forMs = longestRunMs }: { now?: number; forMs?: number } = {},
): Promise<void> {
  const bucket = bucketOf(env);
  const before = firstHotDay(env, now);
  if (!bucket || before === -Infinity) return;
  const until = Date.now() + forMs;
  try {
    if ((await daysToMove(env, openDatabase(env), kinds, before * dayMs)).length === 0) return;
    await inArchiveTurn(env, (turn) =>
      run(env, turn, bucket, kinds, before * dayMs, () => Date.now() >= until || turn.queries() > maxQueries),
    );
  } catch (error) {
    interrupted(error);
  }
}

const interrupted = (error: unknown) =>
  fault('error', { message: 'Archiving was interrupted', ...described(error) });

/** Goes on until there is nothing to do. A connection that fails is left for the next run, and stops no other. */
async function run(
  env: Env,
  turn: Turn,
  bucket: R2Bucket,
  kinds: ArchiveKind[],
  before: number,
  isOver: () => boolean,
): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const found = await daysToMove(env, turn.db, kinds, before);
    const days = found.filter(({ day }) => !failed.has(day.kind + day.connectionId));
    if (days.length === 0) return;
    for (const { kind, day } of days) {
      if (isOver()) return;
      await moveDay({ bucket, kind, day, turn, sizes: usualSizes }, isOver).catch((error: unknown) => {
        failed.add(day.kind + day.connectionId);
        interrupted(error);
      });
    }
  }
}

type Due = { kind: ArchiveKind; day: DayOf };

/** Days that were begun, and the oldest day of each of some connections. */
async function daysToMove(env: Env, db: Database, kinds: ArchiveKind[], before: number): Promise<Due[]> {
  const names = kinds.map(({ name }) => name);
  const begun = await openEntries(
    db,
    names,
    connectionsAtATime,
    andNotMoving(env, sql`archived_days.account_id`),
  );
  const due = begun.flatMap((day) => {
    const kind = kinds.find(({ name }) => name === day.kind);
    return kind ? [{ kind, day }] : [];
  });
  for (const kind of kinds)
    for (const { oldest, ...owner } of await oldestRows(
      db,
      kind,
      before,
      connectionsAtATime,
      andNotMoving(env, sql`c.account_id`),
    )) {
      const day = { kind: kind.name, ...owner, day: dayOf(oldest) };
      if (!begun.some((one) => isSame(one, day))) due.push({ kind, day });
    }
  return due;
}

const isSame = (a: DayOf, b: DayOf): boolean =>
  a.kind === b.kind && a.connectionId === b.connectionId && a.day === b.day;
