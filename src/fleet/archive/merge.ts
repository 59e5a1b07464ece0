import type { ArchivedRow, ArchiveKind } from '../lists/archived.ts';

/**
 * The archived row after its record was received again: the newer version, as an upsert of a hot row would leave it.
 * Returns the archived row itself if nothing changes.
 */
export function newerOf(kind: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const merged = kind.combine ? kind.combine(archived, late) : upserted(kind, archived, late);
  return isSame(kind, { ...merged, updatedAt: archived.updatedAt }, archived) ? archived : merged;
}

/** Whether two rows have the same values. */
export const isSame = ({ columns }: ArchiveKind, a: ArchivedRow, b: ArchivedRow): boolean =>
  Object.keys(columns).every((key) => a[key] === b[key]);

/** The rule of `db/upsert.ts`: an older version never replaces a newer one. */
function upserted({ fixed }: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const [was, is] = [archived.sourceUpdatedAt, late.sourceUpdatedAt];
  if (typeof was === 'number' && typeof is === 'number' && is < was) return archived;
  return { ...late, ...Object.fromEntries(['createdAt', ...fixed].map((key) => [key, archived[key]])) };
}
