import * as v from 'valibot';
import { fastestKph } from '../../../core/fleet/lists/trips.ts';
import { minuteMs } from '../../../core/platform/durations.ts';
import { EmailAddress } from '../../../core/platform/fields.ts';
import type { ProviderRecord } from '../connector/connector.ts';
import { crashRecords } from '../connector/crash.ts';
import {
  at,
  field,
  fittingGroups,
  itemsAt,
  joinedFields,
  msOf,
  place,
  sameFields,
  secondsBetween,
  usableVin,
  yearIn,
} from '../connector/read.ts';

/* Geotab's versions are no times: records have no `sourceUpdatedAt`, and the last one counts. */

/** Whether a Device is a vehicle, unlike trailers and other things without hardware. */
export const isVehicle = (item: unknown): boolean => at(item, 'deviceType') !== 'None';

/** A vehicle from a Device, with the names of the customer's groups by id. */
export const vehicleRecord = (
  item: unknown,
  names?: ReadonlyMap<unknown, unknown>,
): ProviderRecord => ({
  kind: 'vehicle',
  sourceId: field(item, 'id'),
  name: field(item, 'name') ?? field(item, 'id'),
  vin: vinOf(item),
  make: field(item, 'vinInfoMake'),
  model: field(item, 'vinInfoModel'),
  year: yearIn(at(item, 'vinInfoYear')),
  licensePlate: field(item, 'licensePlate'),
  groups: fittingGroups(
    itemsAt(item, 'groups').map((group) => names?.get(reference({ group }, 'group'))),
  ),
  status: isActive(item) ? 'active' : 'inactive',
});

/** The VIN of a Device: as entered, otherwise as the engine reports it, which is `?` if it does not. */
export const vinOf = (item: unknown): unknown => {
  const engine = field(item, 'engineVehicleIdentificationNumber');
  return usableVin(field(item, 'vehicleIdentificationNumber'), engine === '?' ? null : engine);
};

/** A driver from a User. Many log in with their email address. */
export function driverRecord(item: unknown): ProviderRecord {
  const login = field(item, 'name');
  return {
    kind: 'driver',
    sourceId: field(item, 'id'),
    name: joinedFields(item, 'firstName', 'lastName') ?? login ?? field(item, 'id'),
    email: v.is(EmailAddress, login) ? login : null,
    phone: field(item, 'phoneNumber'),
    licenseState: field(item, 'licenseProvince'),
    licenseNumber: field(item, 'licenseNumber'),
    status: isActive(item) ? 1 : 0,
  };
}

/** A trip, without a start location. Geotab recalculates trips; without the same id one is added. */
export function tripRecord(item: unknown): ProviderRecord {
  const [startedAt, endedAt] = [timeAt(item, 'start'), timeAt(item, 'stop')];
  return {
    kind: 'trip',
    sourceId: field(item, 'id'),
    vehicle: reference(item, 'device'),
    driver: reference(item, 'driver'),
    startedAt,
    endedAt,
    endLocation: place(at(item, 'stopPoint', 'y'), at(item, 'stopPoint', 'x')),
    distanceKm: distanceOf(item, secondsBetween(startedAt, endedAt)),
    durationSeconds: secondsBetween(startedAt, endedAt),
  };
}

/** How far beyond the highest speed a distance must be in metres: that speed is measured now and then only. */
const metresBeyond = 10;

/** A trip's distance in kilometres; metres would have been far too fast. */
export function distanceOf(item: unknown, seconds: number | null): unknown {
  const [distance, fastest] = [field(item, 'distance'), field(item, 'maximumSpeed')];
  const kph = typeof fastest === 'number' && fastest > 0 ? fastest : fastestKph;
  const isMetres =
    typeof distance === 'number' && !!seconds && distance > (metresBeyond * kph * seconds) / 3600;
  return isMetres ? distance / 1000 : distance;
}

/** The id of a reference, which is bare or in an object. Null for ids that mean nobody. */
export function reference(value: unknown, name: string): unknown {
  const found = field(value, name);
  const id = typeof found === 'object' ? field(found, 'id') : found;
  return typeof id === 'string' && /^(?:Unknown|No)[A-Z]\w*Id$/.test(id) ? null : id;
}

/** Geotab uses dates of year 1 and 1986 for "never", and of 2050 for "not yet". */
const earliest = Date.UTC(1990, 0, 1);
const notYet = Date.UTC(2050, 0, 1);

/** A time; null for those that mean none. */
export function timeAt(value: unknown, name: string): unknown {
  const found = field(value, name);
  const ms = msOf(found);
  return ms < earliest || ms >= notYet ? null : found;
}

/** Whether `activeTo` of a vehicle or user is in the future. */
export const isActive = (value: unknown): boolean =>
  !(msOf(field(value, 'activeTo')) <= Date.now());

/** Collision rules, and whether Geotab's own analysis confirms or dismisses their events. */
const collisions: { [rule: string]: { isAnalysed: boolean; severity?: string } } = {
  RuleEnhancedMajorCollisionId: { isAnalysed: true, severity: 'high' },
  RuleEnhancedMinorCollisionId: { isAnalysed: true, severity: 'low' },
  RuleAccidentId: { isAnalysed: false },
};

export const collisionRules = Object.keys(collisions);

export const ruleOf = (item: unknown): unknown => reference(item, 'rule');

const ruleFor = (item: unknown) => {
  const rule = ruleOf(item);
  return typeof rule === 'string' && Object.hasOwn(collisions, rule) ? collisions[rule] : undefined;
};

export const isCollision = (item: unknown): boolean => ruleFor(item) !== undefined;

/** Whether an exception is valid; any other state, of which little is known, counts as invalid. */
export const isValid = (item: unknown): boolean => {
  const state = reference(item, 'state');
  return state === null || state === 'ExceptionEventStateValidId';
};

/** A safety event from an ExceptionEvent. Its place comes from the vehicle's positions. */
export const eventRecord = (item: unknown, word: string, location: unknown): ProviderRecord => ({
  kind: 'safetyEvent',
  sourceId: field(item, 'id'),
  sourceUpdatedAt: timeAt(item, 'lastModifiedDateTime'),
  vehicle: reference(item, 'device'),
  driver: reference(item, 'driver'),
  incidentTypes: [word],
  startedAt: timeAt(item, 'activeFrom'),
  endedAt: timeAt(item, 'activeTo'),
  issuedOn: timeAt(item, 'createdDateTime'),
  location,
  maxSpeedKph: field(item, 'details', 'maxSpeed'),
  speedLimitKph: field(item, 'details', 'speedLimit'),
  withdrawn: !isValid(item) || null,
});

/** Several rules may find the same collision, seconds apart. */
export const twinMs = minuteMs;

/**
 * The collision of an exception, found by `all` exceptions of several rules. `id` is that of one it was
 * notified by before, otherwise of the first. It is real while an analysed one, otherwise any, is valid.
 */
export function collisionOf(item: unknown, all: unknown[], notified: readonly string[]) {
  const ids = all
    .toSorted((a, b) => madeAt(a) - madeAt(b) || (idOf(a) < idOf(b) ? -1 : 1))
    .map(idOf);
  const analysed = all.filter(mayBeConfirmed);
  const counting = analysed.length > 0 ? analysed : all;
  return {
    id: ids.find((id) => notified.includes(id)) ?? ids[0] ?? idOf(item),
    isReal: counting.some(isValid),
    counts: counting.some((one) => idOf(one) === idOf(item)),
  };
}

const idOf = (item: unknown): string => String(field(item, 'id'));

/** The records of a collision: level 1, level 2 after a valid hour, or its dismissal. */
export function accidentRecords(
  item: unknown,
  collision: ReturnType<typeof collisionOf>,
  { vin, location, isOld }: { vin: unknown; location: unknown; isOld: boolean },
): ProviderRecord[] {
  const { isAnalysed, severity } = ruleFor(item) ?? {};
  const { id, isReal, counts } = collision;
  if (!counts || (isReal && !isValid(item))) return [];
  return crashRecords(
    { ...eventRecord(item, '', location), sourceId: id },
    { vin, level: isOld && isAnalysed ? 2 : 1, dismissed: !isReal, reportUrl: null, severity },
  );
}

/** Whether Geotab's analysis may still confirm or dismiss an exception. */
export const mayBeConfirmed = (item: unknown): boolean => ruleFor(item)?.isAnalysed === true;

const kept = [
  ...['id', 'rule', 'device', 'driver', 'state'],
  ...['activeFrom', 'activeTo', 'createdDateTime', 'lastModifiedDateTime'],
];

/** What we use of an exception: it is kept while its place or its verdict is to come, and may be long. */
export function briefly(item: unknown): { [name: string]: unknown } {
  const { maxSpeed, speedLimit } = sameFields(at(item, 'details'), 'maxSpeed', 'speedLimit');
  const details = maxSpeed === null && speedLimit === null ? null : { maxSpeed, speedLimit };
  const all = [
    ...kept.map((name) => [name, reference(item, name)] as const),
    ['details', details] as const,
  ];
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

/** When Geotab made an exception known; 0 if it does not say. */
export const madeAt = (item: unknown): number =>
  [timeAt(item, 'createdDateTime'), timeAt(item, 'activeFrom')].map(msOf).find(Number.isFinite) ??
  0;

export const beganAt = (item: unknown): number => msOf(at(item, 'activeFrom'));
