import type { accidents, drivers, vehicles } from '../../platform/db/schema/fleet.ts';
import { timestamp } from '../../platform/fields.ts';
import type { accidents as records } from '../lists/accidents.ts';

/*
 * What becomes of an accident when a record of it comes in: what is stored, and which level
 * webhooks are notified of. A record is one level of an accident, or a new version of one.
 */

/** An accident, as its records add up. What people do about it is stored beside. */
export type Accident = Omit<
  typeof accidents.$inferSelect,
  'acknowledged' | 'closed' | 'assignedTo' | 'note'
>;

/** A record, with the vehicle and the driver that it names. */
export type AccidentRecord = ReturnType<typeof records.toRow> & {
  sourceUpdatedAt?: number | null | undefined;
};

/** A vehicle that an accident may be of. Its groups are as filters compare them, as JSON. */
export type KnownVehicle = Pick<
  typeof vehicles.$inferSelect,
  'id' | 'connectionId' | 'name' | 'licensePlate' | 'vin' | 'status' | 'createdAt' | 'groups'
>;

export type KnownDriver = Pick<typeof drivers.$inferSelect, 'id' | 'name'>;

/** Of the account's fleet, what the accident and its record name, and the vehicles with their VINs. */
export type Fleet = {
  vehicles: readonly KnownVehicle[];
  drivers: readonly KnownDriver[];
  erasedDrivers: readonly string[];
};

type Decision = {
  /** The accident then: `before` itself if the record changes nothing. */
  after: Accident;
  /** The level to notify of, if any. */
  toNotify: number | undefined;
  /** Whether it has no vehicle because several could be meant. */
  isUnclear: boolean;
};

/** Decides what becomes of an accident, undefined if it is new, by a record received `now`. */
export function decide(
  before: Accident | undefined,
  record: AccidentRecord,
  fleet: Fleet,
  now: number,
): Decision {
  const { notificationLevel: level } = record;
  const behind = isBehind(before, record);
  /** The value of the newest version that has one. */
  const newest = <T>(known: T | null | undefined, said: T | null | undefined): T | null =>
    (behind ? (known ?? said) : (said ?? known)) ?? null;
  const highest = isOfHighestLevel(before, record);
  const dismissed = isDismissed(before, record);
  const toNotify = levelToNotify(before, record, dismissed);
  const namedVehicleId = newest(before?.namedVehicleId, record.vehicleId);
  const vin = vinAfter(before, record, behind);
  const { vehicle, isUnclear } = vehicleAfter(before, record, { namedVehicleId, vin }, fleet);
  const driverId = newest(
    unlessErased(before?.driverId, fleet),
    unlessErased(record.driverId, fleet),
  );
  const after: Accident = {
    id: record.id,
    accountId: record.accountId,
    connectionId: record.connectionId,
    sourceId: record.sourceId,
    tSP: before?.tSP ?? record.tSP,
    vin: vin || vehicle?.vin || '',
    vehicleId: vehicle?.id ?? null,
    vehicleName: vehicle?.name ?? null,
    licensePlate: vehicle?.licensePlate ?? null,
    namedVehicleId,
    eventTime: before && behind ? before.eventTime : record.eventTime,
    location: before && behind ? before.location : record.location,
    notificationLevel: Math.max(before?.notificationLevel ?? 0, level),
    reportReady: before && !highest ? before.reportReady : record.reportReady,
    isAccurate: isAccurate(before, record, { highest, dismissed }),
    dismissed,
    reportUrl: newest(before?.reportUrl, record.reportUrl),
    levels: levelsAfter(before, level, now),
    notified: (before?.notified ?? 0) | (toNotify === undefined ? 0 : bitOf(toNotify)),
    // Otherwise a repeat of a lower level would be newer than what is known.
    sourceUpdatedAt: behind
      ? (before?.sourceUpdatedAt ?? null)
      : later(before?.sourceUpdatedAt, record.sourceUpdatedAt),
    driverId,
    driverName: driverName(before, driverId, fleet),
    maxSpeedKph: newest(before?.maxSpeedKph, record.maxSpeedKph),
    accelerationG: newest(before?.accelerationG, record.accelerationG),
    severity: newest(before?.severity, record.severity),
    detectedAt: newest(before?.detectedAt, record.detectedAt),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  return { after: before && isSame(before, after) ? before : after, toNotify, isUnclear };
}

/** Whether the record is older than a version that is known. */
const isOlder = (before: Accident | undefined, { sourceUpdatedAt }: AccidentRecord): boolean =>
  before?.sourceUpdatedAt != null &&
  sourceUpdatedAt != null &&
  sourceUpdatedAt < before.sourceUpdatedAt;

/** Whether the record is newer than every version that is known. */
const isNewer = (before: Accident, { sourceUpdatedAt }: AccidentRecord): boolean =>
  before.sourceUpdatedAt != null &&
  sourceUpdatedAt != null &&
  sourceUpdatedAt > before.sourceUpdatedAt;

/** Whether what is known is newer: if the versions do not say, a higher level is. */
function isBehind(before: Accident | undefined, record: AccidentRecord): boolean {
  if (!before) return false;
  const isLower = record.notificationLevel < before.notificationLevel;
  return isOlder(before, record) || (isLower && !isNewer(before, record));
}

/** Whether the record is of the highest level, in its newest version. */
function isOfHighestLevel(before: Accident | undefined, record: AccidentRecord): boolean {
  if (!before) return true;
  return isOlder(before, record)
    ? record.notificationLevel > before.notificationLevel
    : record.notificationLevel >= before.notificationLevel;
}

/** Whether it is a false alarm. A later level or a newer version reopens it; a repeat does not. */
function isDismissed(before: Accident | undefined, record: AccidentRecord): boolean {
  if (!before) return record.dismissed;
  if (isOlder(before, record)) return before.dismissed;
  if (record.dismissed) return true;
  const isLaterLevel = record.notificationLevel > before.notificationLevel;
  return before.dismissed && !isLaterLevel && !isNewer(before, record);
}

/**
 * The level to notify of, each once. A false alarm notifies only those who know of level 1: as
 * level 2, because the verification is over.
 */
function levelToNotify(
  before: Accident | undefined,
  record: AccidentRecord,
  dismissed: boolean,
): number | undefined {
  const isNotified = (level: number) => ((before?.notified ?? 0) & bitOf(level)) !== 0;
  if (dismissed) return isNotified(1) && !isNotified(2) ? 2 : undefined;
  if (record.dismissed) return undefined; // in an older version only
  return isNotified(record.notificationLevel) ? undefined : record.notificationLevel;
}

const bitOf = (level: number): number => 1 << (level - 1);

/** Whether it is verified, as the highest level says. A false alarm is not. */
function isAccurate(
  before: Accident | undefined,
  record: AccidentRecord,
  { highest, dismissed }: { highest: boolean; dismissed: boolean },
): boolean {
  if (dismissed) return false;
  if (!before || highest) return record.isAccurate;
  return before.dismissed ? before.notificationLevel >= 2 : before.isAccurate; // if reopened
}

/** Each level that was received, in order, and when it first was. */
function levelsAfter(before: Accident | undefined, level: number, now: number) {
  const levels = before?.levels ?? [];
  if (hasLevel(before, level)) return levels;
  const received = { notificationLevel: level, receivedAt: timestamp(now) };
  return [...levels, received].sort((a, b) => a.notificationLevel - b.notificationLevel);
}

const hasLevel = (before: Accident | undefined, level: number): boolean =>
  before?.levels.some(({ notificationLevel }) => notificationLevel === level) ?? false;

/** The VIN of the newest version that has one. */
function vinAfter(before: Accident | undefined, record: AccidentRecord, behind: boolean): string {
  const known = before?.vin ?? '';
  return behind ? known || record.vin : record.vin || known;
}

type Vehicle = { id: string; name: string | null } & Pick<KnownVehicle, 'licensePlate' | 'vin'>;

/** Its vehicle, which is decided at each level, and again if the VIN or the named vehicle changes. */
function vehicleAfter(
  before: Accident | undefined,
  record: AccidentRecord,
  { namedVehicleId, vin }: { namedVehicleId: string | null; vin: string },
  { vehicles }: Fleet,
): { vehicle: Vehicle | undefined; isUnclear: boolean } {
  if (
    before?.vehicleId != null &&
    hasLevel(before, record.notificationLevel) &&
    before.vin === vin &&
    before.namedVehicleId === namedVehicleId
  ) {
    const { vehicleId: id, vehicleName: name, licensePlate } = before;
    return { vehicle: { id, name, licensePlate, vin }, isUnclear: false };
  }
  const named = vehicles.find(({ id }) => id === namedVehicleId);
  if (named) return { vehicle: named, isUnclear: false };
  const same = vin === '' ? [] : vehicles.filter((one) => one.vin === vin);
  const likeliest = same.reduce<KnownVehicle | undefined>(
    (best, one) => (best && isLikelier(best, one, record) ? best : one),
    undefined,
  );
  const isUnclear = likeliest !== undefined && isOneOfSeveral(likeliest, same);
  return { vehicle: isUnclear ? undefined : likeliest, isUnclear };
}

/** Of vehicles with one VIN: an active one, otherwise one of the connection, otherwise the newest. */
function isLikelier(
  one: KnownVehicle,
  other: KnownVehicle,
  { connectionId }: AccidentRecord,
): boolean {
  if (one.status !== other.status) return one.status === 'active';
  const isOwn = one.connectionId === connectionId;
  if (isOwn !== (other.connectionId === connectionId)) return isOwn;
  return one.createdAt === other.createdAt ? one.id > other.id : one.createdAt > other.createdAt;
}

/** Whether a connection has several active vehicles with that VIN. */
const isOneOfSeveral = ({ id, connectionId, status }: KnownVehicle, same: KnownVehicle[]) =>
  status === 'active' &&
  same.some((one) => one.id !== id && one.connectionId === connectionId && one.status === 'active');

const unlessErased = (id: string | null | undefined, { erasedDrivers }: Fleet) =>
  id != null && erasedDrivers.includes(id) ? null : id;

/** The driver's name as it is now, or as it was if the driver is not known. */
function driverName(before: Accident | undefined, driverId: string | null, { drivers }: Fleet) {
  const known = drivers.find(({ id }) => id === driverId);
  return known?.name ?? (before?.driverId === driverId ? before.driverName : null);
}

const later = (one: number | null | undefined, other: number | null | undefined): number | null =>
  one == null || other == null ? (one ?? other ?? null) : Math.max(one, other);

/** What follows from the rest: a vehicle that was only renamed does not change its accidents. */
const besides = new Set(['updatedAt', 'vehicleName', 'licensePlate']);

function isSame(before: Accident, after: Accident): boolean {
  const known: { [key: string]: unknown } = before;
  return Object.entries(after).every(
    ([key, value]) => besides.has(key) || JSON.stringify(value) === JSON.stringify(known[key]),
  );
}
