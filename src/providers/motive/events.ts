import type { ProviderRecord } from '../connector.ts';
import { at, field, idAt, numeric, place } from '../read.ts';

/** An event of `/v2/driver_performance_events`. It has no time of change: the latest reading counts. */
export const eventRecord = (item: unknown): ProviderRecord => ({
  kind: 'safetyEvent',
  sourceId: idAt(item, 'id'),
  vehicle: idAt(item, 'vehicle', 'id'),
  driver: idAt(item, 'driver', 'id'),
  incidentTypes: wordsOf(item),
  eventRisk: riskOf(item),
  startedAt: field(item, 'start_time'),
  endedAt: field(item, 'end_time'),
  location: place(numeric(item, 'lat'), numeric(item, 'lon'), at(item, 'location')),
  maxSpeedKph:
    numeric(item, 'max_speed') ?? greater(numeric(item, 'start_speed'), numeric(item, 'end_speed')),
});

/** An event of `/v1/speeding_events`, whose ids may equal those of other events. */
export function speedingRecord(item: unknown): ProviderRecord {
  const id = idAt(item, 'id');
  const limit =
    numeric(item, 'max_posted_speed_limit_in_kph') ?? numeric(item, 'min_posted_speed_limit_in_kph');
  return {
    kind: 'safetyEvent',
    sourceId: id === null ? null : `speeding:${id}`,
    vehicle: idAt(item, 'vehicle', 'id'),
    driver: idAt(item, 'driver', 'id'),
    incidentTypes: ['speeding'],
    eventRisk: riskOf(item),
    startedAt: field(item, 'start_time'),
    endedAt: field(item, 'end_time'),
    location: place(numeric(item, 'start_lat'), numeric(item, 'start_lon')),
    maxSpeedKph: numeric(item, 'max_vehicle_speed') ?? sum(limit, numeric(item, 'max_over_speed_in_kph')),
    speedLimitKph: limit,
  };
}

/** Motive marks false speeding as `invalid`. */
export const isSpeeding = (item: unknown): boolean => at(item, 'status') !== 'invalid';

/** An event's type in a uniform spelling. */
export function typeOf(item: unknown): unknown {
  const type = field(item, 'type');
  return typeof type === 'string' && type !== 'manual_event' ? type.replace(/_event$/, '') : type;
}

/** The type, and what a review of the video has added to it. */
function wordsOf(item: unknown): unknown[] {
  const more = ['primary_behavior', 'secondary_behaviors'].flatMap((name) => at(item, name) ?? []);
  const words = [typeOf(item), ...more].filter((word) => word !== null && word !== '');
  return [...new Set(words)];
}

const risks: { [severity: string]: number } = { low: 2, medium: 3, high: 4, critical: 5 };

function riskOf(item: unknown): number | null {
  const severity = field(item, 'metadata', 'severity') ?? field(item, 'severity');
  return typeof severity === 'string' && Object.hasOwn(risks, severity) ? (risks[severity] ?? null) : null;
}

const greater = (a: unknown, b: unknown): unknown =>
  typeof a === 'number' && typeof b === 'number' ? Math.max(a, b) : (a ?? b);

const sum = (a: unknown, b: unknown): unknown =>
  typeof a === 'number' && typeof b === 'number' ? a + b : null;
