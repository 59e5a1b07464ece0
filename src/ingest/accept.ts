import * as v from 'valibot';
import { tooManyValues } from '../fleet/lists/field-types.ts';
import { fieldError, sentence } from '../platform/fields.ts';
import { IngestRecord, type RecordWarning, type Rejection } from './schema.ts';

export type Accepted = { index: number; record: IngestRecord };

/** Checks the records of a call one by one. Of several for the same thing, only the newest version is accepted. */
export function acceptRecords(inputs: unknown[]): {
  accepted: Accepted[];
  rejected: Rejection[];
  warnings: RecordWarning[];
} {
  const records: Accepted[] = [];
  const rejected: Rejection[] = [];
  const warnings: RecordWarning[] = [];
  for (const [index, input] of inputs.entries()) {
    const result = v.safeParse(IngestRecord, withShortLists(input));
    const message = result.success ? problemOf(result.output) : problemsOf(result.issues);
    if (result.success && !message) records.push({ index, record: result.output });
    else rejected.push({ index, sourceId: sourceIdOf(input), message: message ?? '' });
  }
  return { accepted: newest(records), rejected, warnings };
}

/** What is inconsistent between a record's fields. */
const problemOf = (record: IngestRecord): string | undefined =>
  record.kind === 'accident' && record.vin == null && !record.vehicle
    ? 'vin is required, unless the accident names its vehicle'
    : wrongEnd(record);

const wrongEnd = (record: IngestRecord): string | undefined =>
  'endedAt' in record && record.endedAt != null && record.endedAt < record.startedAt
    ? 'endedAt must not be before startedAt'
    : undefined;

/** Truncates lists that are too long for any field, so that not every value of a refused list is checked. */
const withShortLists = (input: unknown): unknown =>
  typeof input === 'object' && input && !Array.isArray(input)
    ? Object.fromEntries(
        Object.entries(input).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.slice(0, tooManyValues) : value,
        ]),
      )
    : input;

const problemsOf = (issues: readonly v.BaseIssue<unknown>[]): string =>
  issues
    .slice(0, 5)
    .map((issue) => {
      const error = fieldError(issue);
      return error.field ? sentence(error) : `record ${error.message}`;
    })
    .join('; ');

function sourceIdOf(input: unknown): string | null {
  const id = typeof input === 'object' && input && 'sourceId' in input ? input.sourceId : null;
  return typeof id === 'string' && id.length <= 200 ? id : null;
}

/** Of the records for the same thing, the newest version, or else the last one. */
function newest(records: Accepted[]): Accepted[] {
  const byKey = new Map<string, Accepted>();
  for (const next of records) {
    const key = JSON.stringify([
      next.record.kind,
      next.record.sourceId,
      next.record.kind === 'accident' && next.record.notificationLevel,
    ]);
    const before = byKey.get(key);
    const older = (next.record.sourceUpdatedAt ?? Infinity) < (before?.record.sourceUpdatedAt ?? 0);
    if (older) continue;
    byKey.delete(key);
    byKey.set(key, next);
  }
  return [...byKey.values()];
}
