import { comparePositions } from '../../platform/db/pages.ts';
import { type ArchivedRow, type ArchiveKind, placeOf } from '../lists/archived.ts';
import type { Part } from './bucket.ts';
import { putEntry } from './catalog.ts';
import { noteLately } from './lately.ts';
import { deleteRows, hotRows } from './rows.ts';
import { type Move, readPart, readPartWith, writeParts } from './write.ts';

/**
 * Merges late rows of an archived day into its files, keeping the newer versions. Only files with changes are
 * rewritten, some at a time: call it until none is left.
 */
export async function mergeLate(move: Move, parts: Part[]): Promise<'next' | 'done'> {
  const { kind, day, lease, noteMerged } = move;
  const late = await hotRows(lease.db, kind, day);
  if (late.length === 0) return 'done';
  const twins = await twinsOf(move, parts, late);
  const { unchanged, changes } = sort(kind, parts, late, twins);
  const source = { ...day, now: Date.now() };
  // Until then the change feed shows the late rows as received.
  const replace = (rows: ArchivedRow[]) => [
    noteLately(lease.db, kind, day, rows),
    noteMerged(
      lease.db,
      source,
      kind,
      rows.map((row) => row[kind.id]).filter((id) => twins.has(id)),
    ),
    deleteRows(lease.db, kind, rows),
  ];
  if (unchanged.length > 0) await lease.write(...replace(unchanged));
  if (changes.size === 0) return 'next';
  const merged: Part[] = [];
  for (const [at, part] of parts.entries()) {
    const change = changes.get(at);
    merged.push(...(change ? await rewrite(move, part, change) : [part]));
  }
  const moved = late.filter((row) => !unchanged.includes(row));
  await lease.write(putEntry(lease.db, day, 'moving', merged), ...replace(moved));
  return 'next';
}

/** An archived row and its file. */
type Twin = { row: ArchivedRow; at: number };

/** The archived versions of these records on this day, by id. */
async function twinsOf(move: Move, parts: Part[], late: ArchivedRow[]): Promise<Map<unknown, Twin>> {
  const { id } = move.kind;
  const ids = new Set(late.map((row) => row[id]));
  const twins = new Map<unknown, Twin>();
  for (const [at, { file }] of parts.entries())
    for (const row of await readPartWith(move, file, id, ids))
      if (ids.has(row[id])) twins.set(row[id], { row, at });
  return twins;
}

type Change = { without: Set<unknown>; add: ArchivedRow[] };

/** Separates late rows that change nothing from those that do, with their files. */
function sort(kind: ArchiveKind, parts: Part[], late: ArchivedRow[], twins: Map<unknown, Twin>) {
  const unchanged: ArchivedRow[] = [];
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
      unchanged.push(row);
      continue;
    }
    if (twin) changeOf(twin.at).without.add(row[kind.id]);
    const place = placeOf(kind, newer);
    const next = parts.findIndex(({ first }) => comparePositions(first, place) > 0);
    changeOf(next < 0 ? parts.length - 1 : Math.max(0, next - 1)).add.push(newer);
  }
  return { unchanged, changes };
}

async function rewrite(move: Move, { file }: Part, { without, add }: Change): Promise<Part[]> {
  const { kind } = move;
  const kept = (await readPart(move, file)).filter((row) => !without.has(row[kind.id]));
  const rows = [...kept, ...add].sort((a, b) => comparePositions(placeOf(kind, a), placeOf(kind, b)));
  return rows.length > 0 ? writeParts(move, rows, file) : [];
}

/**
 * The archived row after its record was received again: the newer version, as an upsert of a hot row would leave it.
 * Returns the archived row itself if nothing changes.
 */
export function newerOf(kind: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const merged = kind.combine ? kind.combine(archived, late) : upserted(kind, archived, late);
  const same = Object.keys(kind.columns).every((key) => key === 'updatedAt' || merged[key] === archived[key]);
  return same ? archived : merged;
}

/** The rule of `db/upsert.ts`: an older version never replaces a newer one. */
function upserted({ fixed }: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const [was, is] = [archived.sourceUpdatedAt, late.sourceUpdatedAt];
  if (typeof was === 'number' && typeof is === 'number' && is < was) return archived;
  return { ...late, ...Object.fromEntries(['createdAt', ...fixed].map((key) => [key, archived[key]])) };
}
