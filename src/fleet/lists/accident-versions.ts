import type { ArchivedRow } from './archived.ts';

/** Fields for which each record's newest version counts. */
export const contextKeys = ['driverId', 'maxSpeedKph', 'accelerationG', 'severity', 'detectedAt'] as const;

type Level = { notificationLevel: number; receivedAt: string };

/** Merges a late version of an archived accident, by the rules of `src/fleet/accidents/write.ts`. */
export function combineAccidents(archived: ArchivedRow, late: ArchivedRow): ArchivedRow {
  const [was, is] = [Number(archived.notificationLevel), Number(late.notificationLevel)];
  const [then, now] = [archived.sourceUpdatedAt, late.sourceUpdatedAt];
  const known = typeof then === 'number' && typeof now === 'number';
  const older = known && now < then;
  const behind = known ? older : is < was;
  const leads = older ? is > was : is >= was;
  const dismissed = dismissedAfter(archived, late, older);
  const [newest, oldest] = behind ? [archived, late] : [late, archived];
  const { vehicleId, vehicleName, licensePlate } = late.vehicleId ? late : archived;
  return {
    ...newest,
    ...Object.fromEntries(contextKeys.map((key) => [key, newest[key] ?? oldest[key]])),
    driverName: newest.driverId ? newest.driverName : oldest.driverName,
    tSP: archived.tSP,
    vehicleId,
    vehicleName,
    licensePlate,
    notificationLevel: Math.max(was, is),
    reportReady: (leads ? late : archived).reportReady,
    isAccurate: dismissed ? 0 : (leads ? late : archived).isAccurate,
    dismissed: Number(dismissed),
    reportUrl: newest.reportUrl ?? oldest.reportUrl,
    levels: JSON.stringify(levelsOf(archived.levels, late.levels)),
    acknowledged: late.acknowledged ?? archived.acknowledged,
    closed: late.closed ?? archived.closed,
    notified: Number(archived.notified) | Number(late.notified),
    sourceUpdatedAt: known ? Math.max(then, now) : (now ?? then),
    createdAt: archived.createdAt,
    updatedAt: late.updatedAt,
  };
}

function dismissedAfter(archived: ArchivedRow, late: ArchivedRow, older: boolean): boolean {
  if (older) return archived.dismissed === 1;
  if (late.dismissed === 1) return true;
  const newer = Number(late.sourceUpdatedAt) > Number(archived.sourceUpdatedAt ?? Number.NaN);
  return (
    archived.dismissed === 1 && Number(late.notificationLevel) <= Number(archived.notificationLevel) && !newer
  );
}

/** Each level once, in order, with the time of its first receipt. */
function levelsOf(archived: unknown, late: unknown): Level[] {
  const [known, more]: Level[][] = [archived, late].map((text) => JSON.parse(String(text)));
  const added = (more ?? []).filter(
    ({ notificationLevel }) => !known?.some((level) => level.notificationLevel === notificationLevel),
  );
  return [...(known ?? []), ...added].sort((a, b) => a.notificationLevel - b.notificationLevel);
}
