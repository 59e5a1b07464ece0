import { hourMs } from '../../platform/durations.ts';
import type { ProviderRecord } from '../connector.ts';
import { crashRecords } from '../crash.ts';
import { at, field, msOf } from '../read.ts';
import { reference, timeAt } from './records.ts';

/** Collision rules, and whether Geotab's own analysis confirms or dismisses their events. */
const collisions: { [rule: string]: { isAnalysed: boolean; severity?: string } } = {
  RuleEnhancedMajorCollisionId: { isAnalysed: true, severity: 'high' },
  RuleEnhancedMinorCollisionId: { isAnalysed: true, severity: 'low' },
  RuleAccidentId: { isAnalysed: false },
};

/** A collision that is still valid after this counts as confirmed. */
const confirmedAfterMs = hourMs;

export const ruleOf = (item: unknown): unknown => reference(item, 'rule');

const collisionOf = (item: unknown) => {
  const rule = ruleOf(item);
  return typeof rule === 'string' && Object.hasOwn(collisions, rule) ? collisions[rule] : undefined;
};

export const isCollision = (item: unknown): boolean => collisionOf(item) !== undefined;

/**
 * Whether an exception is valid. A dismissed one has another state; how one reads that Geotab found invalid is unknown,
 * so any other state counts as invalid. Old servers have no states.
 */
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
});

/**
 * The records of a collision: level 1, level 2 once it is `confirmed`, or its dismissal; none while its place or VIN is
 * unknown.
 */
export function accidentRecords(
  item: unknown,
  { vin, location, confirmed = false }: { vin: unknown; location: unknown; confirmed?: boolean },
): ProviderRecord[] {
  const level = confirmed ? 2 : 1;
  return crashRecords(eventRecord(item, '', location), {
    vin,
    level,
    dismissed: !isValid(item),
    reportUrl: null,
    severity: collisionOf(item)?.severity,
  });
}

/**
 * When a collision counts as confirmed unless it is dismissed before, in milliseconds since 1970: an hour after Geotab
 * made it known, or after we have known it; never if nobody analyses it.
 */
export function confirmedAt(item: unknown, knownSince: number): number {
  if (!collisionOf(item)?.isAnalysed) return Number.POSITIVE_INFINITY;
  const made = [timeAt(item, 'createdDateTime'), timeAt(item, 'activeFrom')].map(msOf).find(Number.isFinite);
  return Math.min(made ?? knownSince, knownSince) + confirmedAfterMs;
}

const kept = [
  'id',
  'rule',
  'device',
  'driver',
  'state',
  'activeFrom',
  'activeTo',
  'createdDateTime',
  'lastModifiedDateTime',
];

/** The fields of an exception that must be kept until it is complete. */
export const briefly = (item: unknown): { [name: string]: unknown } => ({
  ...Object.fromEntries(kept.map((name) => [name, reference(item, name)])),
  details: {
    maxSpeed: field(item, 'details', 'maxSpeed'),
    speedLimit: field(item, 'details', 'speedLimit'),
  },
});

export const beganAt = (item: unknown): number => msOf(at(item, 'activeFrom'));
