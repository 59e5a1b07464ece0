import { type Feed, isMapped } from '../fleet/incidents/translate.ts';
import { cleanText, isBlank } from '../fleet/lists/clean.ts';
import { kindNamed } from '../fleet/lists/registry.ts';
import { vinOf } from '../fleet/lists/vin.ts';
import { dayMs } from '../platform/durations.ts';
import { isObject, shortened, written } from '../platform/fields.ts';
import { nearest } from '../platform/nearest.ts';
import { fieldsOf } from './accept.ts';
import {
  type Accepted,
  type FieldIssue,
  type RecordWarning,
  type Rejection,
  severities,
  type Warning,
} from './schema.ts';

/** How many warnings a call gets at most, and how many characters of a name they quote. */
export const maxWarnings = 20;
const maxRepeated = 100;

/** The most that are counted beyond these: a record may have any number of unknown fields. */
const maxCounted = 1000;

/**
 * The worst warnings of a call, those of accidents first, and how many more there are; the same
 * about several records, which are as sent, is one.
 */
export function warningsOf(
  feed: Feed,
  records: unknown[],
  rejected: Rejection[],
  found: RecordWarning[],
): { warnings?: Warning[]; moreWarnings?: number } {
  const refused = new Set(rejected.map(({ index }) => index));
  const warnings = new Map<string, Found>();
  const warn = ({ index, severity, known = [], ...about }: RecordWarning) => {
    const key = JSON.stringify([about.field, about.message]);
    const { kind } = records[index] as Sent;
    const rank = 2 * severities.indexOf(severity) + (kindNamed(kind) === 'accident' ? 0 : 1);
    const same = warnings.get(key);
    if (same) {
      if (same.last !== index) same.warning.records++;
      same.last = index;
      same.rank = Math.min(same.rank, rank);
    } else if (severity !== 'ignored' || warnings.size < maxWarnings + maxCounted)
      warnings.set(key, { rank, known, last: index, warning: { ...about, records: 1, index } });
  };
  for (const about of found) warn(about);
  for (const [index, record] of records.entries())
    if (!refused.has(index))
      for (const about of warningsAbout(record as Sent, feed)) warn({ index, ...about });
  const all = [...warnings.values()].sort((a, b) => a.rank - b.rank);
  return {
    ...(all.length > 0 && { warnings: all.slice(0, maxWarnings).map(withNearest) }),
    ...(all.length > maxWarnings && { moreWarnings: all.length - maxWarnings }),
  };
}

type Sent = { [name: string]: unknown };

/** A warning, with the last record that it is about. */
type Found = { rank: number; known: string[]; last: number; warning: Warning };

/** A warning of an unknown field says which was meant. */
function withNearest({ known, warning }: Found): Warning {
  const meant = nearest(warning.field.replace(/^.*\./, ''), known);
  return meant ? { ...warning, message: `${warning.message}. Did you mean ${meant}?` } : warning;
}

/** By kind, the names of its fields, and those in objects that fields hold. */
const namesOf = new Map(
  [...fieldsOf].map(([kind, fields]) => {
    const inner = Object.entries(fields).flatMap(([name, { holds }]) =>
      [holds].flat().flatMap((one) => (isObject(one) ? [{ name, names: Object.keys(one) }] : [])),
    );
    return [kind, { names: ['kind', ...Object.keys(fields)], inner }];
  }),
);

/** The names that no field has, in a record and in objects of it. */
function* unknownIn(record: Sent, kind: unknown): Generator<FieldIssue> {
  const { names: own = [], inner = [] } = namesOf.get(kind) ?? {};
  const message = `is not a field of ${kind} records; it was ignored`;
  const among = (known: string[], sent: object, ...path: string[]) =>
    Object.keys(sent)
      .filter((name) => !known.includes(name))
      .map((name) => ({
        field: written([...path, name]),
        message,
        severity: 'ignored' as const,
        known,
      }));
  yield* among(own, record);
  for (const { name, names } of inner)
    for (const item of [record[name]].flat().filter(isObject)) yield* among(names, item, name);
}

const vinForm = /^[A-HJ-NPR-Z0-9]{17}$/;
const impossibleVin =
  'is not 17 letters and digits without I, O and Q: accidents are matched by VIN';

function* warningsAbout(record: Sent, feed: Feed): Generator<FieldIssue> {
  const { incidentTypes, vin } = record;
  const kind = kindNamed(record.kind);
  yield* unknownIn(record, kind);
  if (kind === 'safetyEvent')
    for (const word of textsIn(incidentTypes))
      if (!isMapped(feed, word))
        yield {
          field: 'incidentTypes',
          message: `has the unknown label ${shortened(word, maxRepeated)}, which becomes Other`,
          severity: 'ignored',
        };
  if (kind === 'vehicle' || kind === 'accident')
    for (const known of textsIn(vin).map(vinOf))
      if (known && !vinForm.test(known))
        yield { field: 'vin', message: impossibleVin, severity: 'doubtful' };
}

const textsIn = (value: unknown): string[] =>
  [value].flat().flatMap((one) => (isBlank(one) ? [] : (cleanText(one) ?? [])));

/** Seconds that are sent as milliseconds, and clocks that were never set, are before this. */
const earliest = Date.UTC(2000, 0, 1);
const tooEarly = 'is before the year 2000: check the clock and the unit';

/** An event so far before the newest is improbable: clocks roll over by 20 years. */
export const farMs = 2 * 365 * dayMs;
const tooFar = 'is years before the newest time of the call: check the clock of the device';

/** What is improbable about accepted records: VINs that cannot be one, and times of a wrong clock or unit. */
export function doubtsAbout(accepted: Accepted[], sent: unknown[], now = 0): RecordWarning[] {
  const newest = Math.max(now, ...accepted.map(({ record }) => whenOf(record)?.time ?? 0));
  return accepted.flatMap(({ index, record }) => {
    const times: { [name: string]: unknown } = record;
    const early = Object.entries(fieldsOf.get(record.kind) ?? {}).flatMap(([name, { holds }]) =>
      holds === 'time' && Number(times[name] ?? earliest) < earliest ? [name] : [],
    );
    const when = whenOf(record);
    const isFar = early.length === 0 && when !== undefined && when.time < newest - farMs;
    const doubts = [
      ...early.map((field) => ({ field, message: tooEarly })),
      ...(isFar ? [{ field: when.field, message: tooFar }] : []),
      ...('vin' in record && isNoVin(sent[index])
        ? [{ field: 'vin', message: 'cannot be a VIN; its value was dropped' }]
        : []),
    ];
    return doubts.map((doubt) => ({ index, ...doubt, severity: 'doubtful' as const }));
  });
}

/** When what a record is about happened, and the field that says so. */
function whenOf(record: Accepted['record']): { field: string; time: number } | undefined {
  if ('eventTime' in record) return { field: 'eventTime', time: record.eventTime };
  return 'startedAt' in record ? { field: 'startedAt', time: record.startedAt } : undefined;
}

function isNoVin(sent: unknown): boolean {
  const text = cleanText((sent as { vin?: unknown }).vin); // an accepted record is an object
  return Boolean(text) && vinOf(text ?? '') === '';
}
