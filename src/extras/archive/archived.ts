import type { ArchiveKind } from '../../core/fleet/lists/list.ts';

/** A row of D1, by the keys of its kind. */
export type ArchivedRow = { [key: string]: unknown };

export const placeOf = ({ order }: ArchiveKind, row: ArchivedRow) => ({
  sort: Number(row[order]),
  id: String(row.id),
});

/** The newer version, as an upsert of a hot row would leave it; or the archived row itself. */
export function newerOf(kind: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const merged = upserted(kind, archived, late);
  return isSame(kind, { ...merged, updatedAt: archived.updatedAt }, archived) ? archived : merged;
}

/** Whether two rows have the same values. */
export const isSame = ({ columns }: ArchiveKind, a: ArchivedRow, b: ArchivedRow): boolean =>
  Object.keys(columns).every((key) => a[key] === b[key]);

/** The rule of `ingest/keep.ts`: an older version never replaces a newer one. */
function upserted({ fixed }: ArchiveKind, archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const [was, is] = [archived.sourceUpdatedAt, late.sourceUpdatedAt];
  if (typeof was === 'number' && typeof is === 'number' && is < was) return archived;
  const kept = Object.entries(fixed).filter(([, by]) => archived[by] === late[by]);
  return { ...late, ...Object.fromEntries(kept.map(([key]) => [key, archived[key]])) };
}
