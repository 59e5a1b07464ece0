import type { Field } from '../fleet/lists/field.ts';
import { cleanText } from '../fleet/lists/mend.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { vinOf } from '../fleet/lists/vin.ts';
import { dayMs } from '../platform/durations.ts';
import type { Accepted } from './accept.ts';
import type { RecordWarning } from './schema.ts';

/** Seconds that are sent as milliseconds, and clocks that were never set, are before this. */
const earliest = Date.UTC(2000, 0, 1);
const tooEarly = 'is before the year 2000: check the clock and the unit';

/** An event so far before the newest is improbable: clocks roll over by 20 years. */
export const farMs = 2 * 365 * dayMs;
const tooFar = 'is years before the newest time of the call: check the clock of the device';

/** The fields of records that hold times, by kind. */
const timesOf = new Map<string, string[]>(
  recordKinds.map(({ kind, fields }) => {
    const all = Object.entries<Field>(fields);
    return [kind, all.flatMap(([name, { holds }]) => (holds === 'time' ? [name] : []))];
  }),
);

/** What is improbable about accepted records: placeholders for VINs, and times of a wrong clock or unit. */
export function doubtsAbout(accepted: Accepted[], sent: unknown[], now = 0): RecordWarning[] {
  const newest = Math.max(now, ...accepted.map(({ record }) => whenOf(record)?.time ?? 0));
  return accepted.flatMap(({ index, record }) => {
    const times: { [name: string]: unknown } = record;
    const early = (timesOf.get(record.kind) ?? []).filter(
      (name) => Number(times[name] ?? earliest) < earliest,
    );
    const when = whenOf(record);
    const isFar = early.length === 0 && when !== undefined && when.time < newest - farMs;
    const doubts = [
      ...early.map((field) => ({ field, message: tooEarly })),
      ...(isFar ? [{ field: when.field, message: tooFar }] : []),
      ...('vin' in record && isPlaceholder(sent[index])
        ? [{ field: 'vin', message: 'is a placeholder, and no VIN' }]
        : []),
    ];
    return doubts.map((doubt) => ({ index, ...doubt }));
  });
}

/** When what a record is about happened, and the field that says so. */
function whenOf(record: Accepted['record']): { field: string; time: number } | undefined {
  if ('eventTime' in record) return { field: 'eventTime', time: record.eventTime };
  return 'startedAt' in record ? { field: 'startedAt', time: record.startedAt } : undefined;
}

function isPlaceholder(sent: unknown): boolean {
  const text = cleanText((sent as { vin?: unknown }).vin); // an accepted record is an object
  return Boolean(text) && vinOf(text ?? '') === '';
}
