import { maxClockLeadMs } from '../../platform/fields.ts';
import type { ArchiveKind, Row } from '../lists/archived.ts';

/**
 * What becomes of an archived row when its record has come in again: the newer version, as an upsert of a hot row
 * would have left it. Returns the archived row itself if that stays as it is.
 */
export function newerOf(kind: ArchiveKind, archived: Row, late: Row): Row {
  const merged = kind.combine ? kind.combine(archived, late) : upserted(kind, archived, late);
  const same = Object.keys(kind.columns).every((key) => key === 'updatedAt' || merged[key] === archived[key]);
  return same ? archived : merged;
}

/** The rule of `db/upsert.ts`: an older version never takes the place of a newer one. */
function upserted({ fixed }: ArchiveKind, archived: Row, late: Row): Row {
  const [was, is] = [archived.sourceUpdatedAt, late.sourceUpdatedAt];
  const fromTheFuture = Number(was) > Number(late.updatedAt) + maxClockLeadMs;
  const known = typeof was === 'number' && typeof is === 'number';
  if (known && is < was && !fromTheFuture) return archived;
  return { ...late, ...Object.fromEntries(['createdAt', ...fixed].map((key) => [key, archived[key]])) };
}
