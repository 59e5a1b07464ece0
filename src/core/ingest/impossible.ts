import { fastestKph } from '../fleet/lists/trips.ts';
import { hourMs, minuteMs } from '../platform/durations.ts';
import type { FieldIssue, IngestRecord } from './schema.ts';

/** The record without what cannot be beside its other fields, and what that was. */
export function withoutImpossible(record: IngestRecord): {
  record: IngestRecord;
  problems: FieldIssue[];
} {
  const problems = [...impossibleIn(record)];
  const none = Object.fromEntries(problems.map(({ field }) => [field, null]));
  return { record: problems.length > 0 ? { ...record, ...none } : record, problems };
}

function* impossibleIn(record: IngestRecord): Generator<FieldIssue> {
  if (!('endedAt' in record) && record.kind !== 'trip') return;
  const { startedAt, endedAt } = record;
  const isBackwards = endedAt != null && endedAt < startedAt; // a provider's clock may go back
  if (isBackwards)
    yield {
      field: 'endedAt',
      message: 'must not be before startedAt; its value was dropped',
      severity: 'dropped',
    };
  if (record.kind !== 'trip') return;
  const { distanceKm, durationSeconds } = record;
  const spanMs = endedAt == null || isBackwards ? undefined : endedAt - startedAt + minuteMs;
  const isTooLong =
    durationSeconds != null && spanMs !== undefined && durationSeconds * 1000 > spanMs;
  if (isTooLong)
    yield {
      field: 'durationSeconds',
      message: 'is longer than from startedAt to endedAt: check the unit; its value was dropped',
      severity: 'doubtful',
    };
  const tookMs =
    spanMs ?? (durationSeconds == null ? undefined : durationSeconds * 1000 + minuteMs);
  if (distanceKm != null && tookMs !== undefined && distanceKm > (fastestKph * tookMs) / hourMs)
    yield {
      field: 'distanceKm',
      message: 'is farther than anybody drives in that time: check the unit; its value was dropped',
      severity: 'doubtful',
    };
}
