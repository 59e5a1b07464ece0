import { comparePositions } from '../../platform/db/pages.ts';
import { type ArchiveKind, placeOf, type Row } from '../lists/archived.ts';
import { type DayOf, type Part, PartGone } from './bucket.ts';
import { putEntry } from './catalog.ts';
import { deleteRows, hotRows } from './rows.ts';
import { newerOf } from './versions.ts';
import { type Move, readPart, writeParts } from './write.ts';

/**
 * Puts rows that came in for an archived day into its files, the newer version of each. Only those files are written
 * again that one of them belongs to. Some at a time: the day comes up again until none is left.
 */
export async function mergeLate(move: Move, parts: Part[]): Promise<'next' | 'done'> {
  const { kind, day, lease } = move;
  const late = await hotRows(lease.db, kind, day);
  if (late.length === 0) return 'done';
  const { settled, changes } = sort(kind, parts, late, await twinsOf(move, parts, late));
  if (settled.length > 0) await lease.write(deleteRows(lease.db, kind, settled));
  if (changes.size === 0) return 'next';
  const merged: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const change = changes.get(at);
    merged.push(...(change ? await rewrite(move, part, change) : [part]));
  }
  await lease.write(putEntry(lease.db, day, 'moving', merged));
  return 'next';
}

/** A row of the archive, and the file that it is in. */
type Twin = { row: Row; at: number };

/** What the archive has of these records on this day, by id. */
async function twinsOf({ bucket, kind, day }: Move, parts: Part[], late: Row[]): Promise<Map<unknown, Twin>> {
  const ids = new Set(late.map((row) => row[kind.id]));
  const twins = new Map<unknown, Twin>();
  for (const [at, { file }] of parts.entries()) {
    const own = await mustRead(bucket, kind, day, file, [kind.id]);
    if (!own.some((row) => ids.has(row[kind.id]))) continue;
    for (const row of await mustRead(bucket, kind, day, file))
      if (ids.has(row[kind.id])) twins.set(row[kind.id], { row, at });
  }
  return twins;
}

async function mustRead(bucket: R2Bucket, kind: ArchiveKind, day: DayOf, file: string, keys?: string[]) {
  const rows = await readPart(bucket, kind, day, file, keys);
  if (!rows) throw new PartGone(day);
  return rows;
}

/** What changes in a file. */
type Change = { without: Set<unknown>; add: Row[] };

/** Tells late rows that change nothing from those that do, with the files that these belong to. */
function sort(kind: ArchiveKind, parts: Part[], late: Row[], twins: Map<unknown, Twin>) {
  const settled: Row[] = [];
  const changes = new Map<number, Change>();
  const changeOf = (at: number) => {
    const change = changes.get(at) ?? { without: new Set(), add: [] };
    changes.set(at, change);
    return change;
  };
  for (const row of late) {
    const twin = twins.get(row[kind.id]);
    const newer = twin ? newerOf(kind, twin.row, row) : row;
    if (newer === twin?.row) {
      settled.push(row);
      continue;
    }
    if (twin) changeOf(twin.at).without.add(row[kind.id]);
    const place = placeOf(kind, newer);
    const next = parts.findIndex(({ first }) => comparePositions(first, place) > 0);
    changeOf(next < 0 ? parts.length - 1 : Math.max(0, next - 1)).add.push(newer);
  }
  return { settled, changes };
}

async function rewrite(move: Move, { file }: Part, { without, add }: Change): Promise<Part[]> {
  const { bucket, kind, day } = move;
  const kept = (await mustRead(bucket, kind, day, file)).filter((row) => !without.has(row[kind.id]));
  const rows = [...kept, ...add].sort((a, b) => comparePositions(placeOf(kind, a), placeOf(kind, b)));
  return rows.length > 0 ? writeParts(move, rows, file) : [];
}
