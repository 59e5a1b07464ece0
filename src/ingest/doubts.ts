import { cleanText } from '../fleet/lists/mend.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import { vinOf } from '../fleet/lists/vin.ts';
import { dayMs } from '../platform/durations.ts';
import type { Accepted } from './accept.ts';
import type { RecordWarning } from './schema.ts';

/** Seconds that are sent as milliseconds, and clocks that were never set, are before this. */
const earliest = Date.UTC(2000, 0, 1);

/** How far before the newest time of its call an event is improbable: a clock that rolls over goes back 20 years. */
export const farMs = 2 * 365 * dayMs;

const timesOf = new Map<string, string[]>(
  recordKinds.map(({ kind, recordColumns }) => [
    kind,
    Object.keys(recordColumns).filter((name) => recordColumns[name]?.holds === 'time'),
  ]),
);

/**
 * What is improbable about accepted records, although they are stored with it: placeholders for VINs, and times that a
 * wrong clock or unit gives. `now` is the time of a call that notifies; without it, records are compared with each
 * other. Times are milliseconds since 1970.
 */
export function doubtsAbout(accepted: Accepted[], sent: unknown[], now?: number): RecordWarning[] {
  const newest = Math.max(now ?? 0, ...accepted.map(({ record }) => whenOf(record) ?? 0));
  return accepted.flatMap(({ index, record }) => {
    const { kind, sourceId } = record;
    const times: { [name: string]: unknown } = record;
    const early = (timesOf.get(kind) ?? []).filter((name) => isBefore(times[name], earliest));
    const found = early.map((field) => ({
      field,
      message: 'is before the year 2000: check the clock and the unit',
    }));
    if (early.length === 0 && isBefore(whenOf(record), newest - farMs)) {
      const field = 'eventTime' in record ? 'eventTime' : 'startedAt';
      found.push({
        field,
        message: 'is years before the newest time of the call: check the clock of the device',
      });
    }
    if ('vin' in record && isPlaceholder(sent[index]))
      found.push({ field: 'vin', message: 'is a placeholder, and no VIN' });
    return found.map((doubt) => ({ index, kind, sourceId, ...doubt }));
  });
}

/** When what a record is about happened. */
function whenOf(record: Accepted['record']): number | undefined {
  if ('eventTime' in record) return record.eventTime;
  return 'startedAt' in record ? record.startedAt : undefined;
}

const isBefore = (time: unknown, limit: number): boolean => typeof time === 'number' && time < limit;

function isPlaceholder(sent: unknown): boolean {
  const text = cleanText((sent as { vin?: unknown }).vin); // an accepted record is an object
  return Boolean(text) && vinOf(text ?? '') === '';
}
