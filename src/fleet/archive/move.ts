import { comparePositions } from '../../platform/db/pages.ts';
import { type Budget, isLeft } from '../../platform/jobs/budget.ts';
import { type ArchivedRow, isSame, newerOf, placeOf } from '../lists/archived.ts';
import { noteArchived } from '../note-changes.ts';
import type { Part } from './bucket.ts';
import { catalogued, putEntry } from './catalog.ts';
import { noteLately } from './lately.ts';
import { readPart, readRowsWith } from './parquet.ts';
import { deleteRows, hotRows, rowsPerStatement } from './rows.ts';
import { lengthOf, type Move, maxCharacters, tidy, writeParts } from './write.ts';

/**
 * Moves the rows of one day of a connection from D1 to the archive. Late rows are merged into the files that are there,
 * keeping the newer versions. Continues after an interruption. Returns false if the budget is used up before the end.
 */
export async function moveDay(move: Move, budget: Budget): Promise<boolean> {
  const known: KnownFiles = new Map();
  while (await moveSome(move, known)) if (!isLeft(budget)) return false;
  return true;
}

/**
 * Moves as many rows as a file has: writes them, reads them back, updates the catalog, deletes files that no longer
 * count, and only then the rows. Returns false if there are none.
 */
async function moveSome(move: Move, known: KnownFiles): Promise<boolean> {
  const { kind, day, lease } = move;
  const { db, write } = lease;
  const hot = await someRows(move);
  if (hot.length === 0) return false;
  const parts = await catalogued(db, day);
  const twins = await twinsOf(move, parts, hot, known);
  const versions = hot.map((row): Version => {
    const twin = twins.get(row[kind.id]);
    return { row, twin, newer: twin ? newerOf(kind, twin.row, row) : row };
  });
  const different = versions.filter(({ newer, twin }) => newer !== twin?.row);
  const written = different.length > 0 ? await writeVersions(move, parts, different) : parts;
  if (written !== parts) await write(putEntry(db, day, written));
  await tidy(move, written);
  for (let at = 0; at < versions.length; at += rowsPerStatement) {
    const some = versions.slice(at, at + rowsPerStatement);
    const rows = some.map(({ row }) => row);
    // Until then the change feed shows late rows as received.
    const merged = some.flatMap(({ row, newer }) => (isSame(kind, row, newer) ? [] : [row[kind.id]]));
    await write(
      noteLately(db, kind, day, rows),
      ...(merged.length > 0 ? [noteArchived(db, day, 'changed', merged)] : []),
      deleteRows(db, kind, rows),
    );
  }
  return true;
}

/** An archived row and the place of its file. */
type Twin = { row: ArchivedRow; at: number };

/** A row of D1, the archived one with its id, and the one to keep. */
type Version = { row: ArchivedRow; twin: Twin | undefined; newer: ArchivedRow };

/** The first rows of the day, at most those of one file. */
async function someRows({ kind, day, sizes, lease: { db } }: Move): Promise<ArchivedRow[]> {
  const rows: ArchivedRow[] = [];
  let characters = 0;
  for (;;) {
    const newest = rows.at(-1);
    const found = await hotRows(db, kind, day, newest && placeOf(kind, newest));
    rows.push(...found);
    characters += lengthOf(found);
    if (found.length < rowsPerStatement || rows.length >= sizes.part || characters > maxCharacters)
      return rows.slice(0, sizes.part);
  }
}

/**
 * The ends of the ids in files that this invocation has read, as numbers: a day of many files reads each of them once,
 * and again only if it probably has a record that came in late.
 */
type KnownFiles = Map<string, Float64Array>;

const endOf = (id: unknown): number => Number.parseInt(String(id).slice(-12), 16);

/** The archived versions of these records on this day, by id. */
async function twinsOf(
  move: Move,
  parts: Part[],
  hot: ArchivedRow[],
  known: KnownFiles,
): Promise<Map<unknown, Twin>> {
  const { id } = move.kind;
  const ids = new Set(hot.map((row) => row[id]));
  const ends = new Set([...ids].map(endOf));
  const twins = new Map<unknown, Twin>();
  for (const [at, { file }] of parts.entries()) {
    const inFile =
      known.get(file) ?? Float64Array.from((await readPart(move, file, [id])).map((row) => endOf(row[id])));
    known.set(file, inFile);
    if (inFile.some((end) => ends.has(end)))
      for (const row of await readRowsWith(move, file, id, ids)) twins.set(row[id], { row, at });
  }
  return twins;
}

/** Writes versions into the files that they belong to, of which only those are written again, or into further ones. */
async function writeVersions(move: Move, parts: Part[], versions: Version[]): Promise<Part[]> {
  const { kind, sizes } = move;
  const without = new Set(versions.flatMap(({ row, twin }) => (twin ? [row[kind.id]] : [])));
  const added = Map.groupBy(
    versions.map(({ newer }) => newer),
    (row) => placeIn(parts, placeOf(kind, row)),
  );
  const beyond = added.get(parts.length) ?? [];
  const last = parts.at(-1);
  if (last && beyond.length > 0 && fits(last, beyond, sizes)) {
    added.set(parts.length - 1, [...(added.get(parts.length - 1) ?? []), ...beyond]);
    added.delete(parts.length);
  }
  const changed = new Set([...versions.flatMap(({ twin }) => twin?.at ?? []), ...added.keys()]);
  const written: Part[] = [];
  for (const [at, part] of [...parts, undefined].entries()) {
    if (!changed.has(at)) {
      if (part) written.push(part);
      continue;
    }
    const kept = part ? (await readPart(move, part.file)).filter((row) => !without.has(row[kind.id])) : [];
    const rows = [...kept, ...(added.get(at) ?? [])];
    rows.sort((a, b) => comparePositions(placeOf(kind, a), placeOf(kind, b)));
    written.push(...(await writeParts(move, rows, part?.file)));
  }
  return written;
}

/** Whether rows fit into a file as well. */
const fits = ({ rows, bytes }: Part, more: ArchivedRow[], sizes: Move['sizes']): boolean =>
  rows + more.length <= sizes.part && bytes + lengthOf(more) <= maxCharacters;

/** The place of the file that a row belongs to: the number of files if it comes after all of them. */
function placeIn(parts: Part[], place: Part['first']): number {
  const last = parts.at(-1);
  if (!last || comparePositions(last.last, place) < 0) return parts.length;
  return Math.max(
    0,
    parts.findLastIndex(({ first }) => comparePositions(first, place) <= 0),
  );
}
