import { openDatabase } from '../../platform/db/database.ts';
import { Refusal } from '../../platform/errors.ts';
import { type Budget, isLeft } from '../../platform/jobs/budget.ts';
import { type ArchivedRow, placeOf } from '../lists/archived.ts';
import { bucketOf, type DayOf, type Part } from './bucket.ts';
import { dropEntry, entryOf, inArchive, putEntry, type State } from './catalog.ts';
import { noteLately } from './lately.ts';
import { mergeLate } from './merge.ts';
import { deleteRows, hotRows, hotWithin, rowsPerStatement } from './rows.ts';
import { type Move, partsInBucket, readPart, tidy, writeParts } from './write.ts';

/**
 * Moves one day of a connection, or its late rows, from D1 to the archive: writes the rows, reads them back, counts
 * them, updates the catalog, and only then deletes them from D1. Continues after an interruption. Returns false if the
 * budget is used up before the end.
 */
export async function moveDay(move: Move, budget: Budget): Promise<boolean> {
  const { lease, day } = move;
  for (;;) {
    const [entry] = await entryOf(lease.db, day);
    const parts: Part[] = entry ? JSON.parse(entry.parts) : [];
    const finished = await steps[entry?.state ?? 'writing'](move, parts, budget);
    if (finished !== 'next') return finished === 'done';
    if (!isLeft(budget)) return false;
  }
}

/** What each state does. `next`: the day is in another state now. */
type Step = (move: Move, parts: Part[], budget: Budget) => Promise<'next' | 'done' | 'stopped'>;

const steps: Record<State, Step> = { writing: writeRows, moving: deleteMoved, done: mergeLate };

/** Writes the rows of the day after those already written. */
async function writeRows(move: Move, parts: Part[], budget: Budget) {
  const { day, lease } = move;
  for (;;) {
    const { rows, more } = await readRows(move, parts.at(-1));
    parts.push(...(await writeParts(move, rows)));
    if (parts.length === 0) {
      await lease.write(dropEntry(lease.db, day));
      return 'done';
    }
    await lease.write(putEntry(lease.db, day, more ? 'writing' : 'moving', parts));
    if (!more) return 'next';
    if (!isLeft(budget)) return 'stopped';
  }
}

/** How many characters of rows a file gets at most, which take several times as much memory. */
const maxCharacters = 8_000_000;

/** The rows of one file, and whether more may follow. */
async function readRows(
  { kind, day, sizes, lease: { db } }: Move,
  last: Part | undefined,
): Promise<{ rows: ArchivedRow[]; more: boolean }> {
  const rows: ArchivedRow[] = [];
  let characters = 0;
  for (let after = last?.last; ; ) {
    const found = await hotRows(db, kind, day, after);
    rows.push(...found);
    characters += found.reduce((sum, row) => sum + lengthOf(row), 0);
    const newest = found.at(-1);
    if (!newest || found.length < rowsPerStatement)
      return { rows: rows.slice(0, sizes.part), more: rows.length > sizes.part };
    if (rows.length >= sizes.part || characters > maxCharacters)
      return { rows: rows.slice(0, sizes.part), more: true };
    after = placeOf(kind, newest);
  }
}

const lengthOf = (row: ArchivedRow): number =>
  Object.values(row).reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 8), 0);

/** Deletes from D1 what is found in the archive's files, and from the bucket what is not in the catalog. */
async function deleteMoved(move: Move, parts: Part[], budget: Budget) {
  const { kind, day, lease } = move;
  for (const { file, first, last } of parts) {
    const [left] = await hotWithin(lease.db, kind, day, first, last);
    if (!left) continue; // done by an earlier run
    const rows = await readPart(move, file, [kind.id, 'updatedAt']);
    for (let at = 0; at < rows.length; at += rowsPerStatement) {
      const some = rows.slice(at, at + rowsPerStatement);
      await lease.write(noteLately(lease.db, kind, day, some), deleteRows(lease.db, kind, some));
    }
    if (!isLeft(budget)) return 'stopped';
  }
  await tidy(move, parts);
  await lease.write(putEntry(lease.db, day, 'done', parts));
  return 'done';
}

/** The catalog's entry of a day, and what it should be according to the bucket. */
export type Repair = { catalog: Part[]; bucket: Part[] };

/**
 * Compares a day's catalog entry with the bucket and, with `apply`, repairs it. For operators: after going back in time
 * the catalog names files that were replaced since, and files may be lost.
 *
 * @throws Refusal: unavailable, while the archive is being changed, or when there is no bucket
 */
export async function repairDay(env: Env, day: DayOf, apply: boolean): Promise<Repair> {
  const bucket = bucketOf(env);
  if (!bucket) throw new Refusal({ kind: 'unavailable', retryAfter: 60 });
  const compared = async () => {
    const [{ state, parts } = { state: 'moving' as const, parts: '[]' }] = await entryOf(
      openDatabase(env),
      day,
    );
    return { state, catalog: JSON.parse(parts), bucket: await partsInBucket(bucket, day) };
  };
  const seen = await compared();
  if (!apply || seen.catalog.length + seen.bucket.length === 0) return seen;
  const done = await inArchive(env, async ({ db, write }) => {
    const { state, ...found } = await compared();
    const { bucket: parts } = found;
    await write(parts.length > 0 ? putEntry(db, day, state, parts) : dropEntry(db, day));
    return found;
  });
  if (done === 'busy') throw new Refusal({ kind: 'unavailable', retryAfter: 2 });
  return done.result;
}
