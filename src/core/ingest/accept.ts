import * as v from 'valibot';
import { cleanText, isBlank, usable } from '../fleet/lists/clean.ts';
import { type Field, isOmissible } from '../fleet/lists/field.ts';
import { tooManyValues } from '../fleet/lists/field-types.ts';
import { kindNamed, recordKinds } from '../fleet/lists/registry.ts';
import { fieldError, isObject, sentence } from '../platform/fields.ts';
import { withoutImpossible } from './impossible.ts';
import {
  type Accepted,
  type FieldIssue,
  IngestRecord,
  mustBeKind,
  type RecordWarning,
  type Rejection,
} from './schema.ts';
import { newestOf } from './versions.ts';

/** Checks records one by one, with warnings. Of several for one thing, the newest is accepted. */
export function acceptRecords(inputs: unknown[]): {
  accepted: Accepted[];
  rejected: Rejection[];
  warnings: RecordWarning[];
} {
  const records: Accepted[] = [];
  const rejected: Rejection[] = [];
  const warnings: RecordWarning[] = [];
  for (const [index, sent] of inputs.entries()) {
    const input = withKnownKind(withShortLists(sent));
    const strict = v.safeParse(IngestRecord, input);
    const usablePart = strict.success ? input : whatIsUsable(input, strict.issues);
    const result = strict.success
      ? strict
      : v.safeParse(IngestRecord, usablePart, { abortPipeEarly: true });
    const message = result.success
      ? problemOf(result.output, strict.issues ?? [])
      : problemsOf(result.issues);
    if (!result.success || message) {
      rejected.push({ index, sourceId: sourceIdOf(sent), message: message ?? '' });
      continue;
    }
    const { record, problems } = withoutImpossible(result.output);
    if (isObject(sent) && sent.kind !== record.kind)
      problems.push(problemOfValue('kind', mustBeKind, true));
    if (!strict.success) problems.push(...lossesIn(usablePart, strict.issues));
    warnings.push(...problems.map((problem) => ({ index, ...problem })));
    records.push({ index, record });
  }
  const { newest, warnings: ofVersions } = newestOf(records);
  return { accepted: newest, rejected, warnings: [...warnings, ...ofVersions] };
}

/** The fields of records, by kind. */
export const fieldsOf = new Map<unknown, { [name: string]: Field }>(
  recordKinds.map(({ kind, recordFields }) => [kind, recordFields]),
);

/** The record with what is usable of the fields that the issues are about. */
function whatIsUsable(input: unknown, issues: Issues): unknown {
  if (!isObject(input)) return input;
  const usableFields = Object.entries(fieldsOf.get(input.kind) ?? {})
    .filter(([name]) => issues.some(({ path }) => path?.[0].key === name))
    .map(([name, field]) => {
      if (isBlank(input[name])) return [name, undefined];
      const value = usable(field.input, field.clean, input[name]);
      return [name, value ?? (isOmissible(field) ? undefined : input[name])];
    });
  return { ...input, ...Object.fromEntries(usableFields) };
}

/** What the issues say, with what became of the value. A blank one is none. */
function lossesIn(usablePart: unknown, issues: Issues): FieldIssue[] {
  const losses = issues.flatMap((issue) => {
    const keys = issue.path?.map(({ key }) => key) ?? [];
    const whole = within(usablePart, keys.slice(0, 1));
    if (isBlank(issue.input) && (keys.length === 1 || whole != null)) return [];
    const { field, message } = fieldError(issue);
    return [problemOfValue(field.replace(/\.\d+/g, ''), message, within(usablePart, keys) != null)];
  });
  return [...new Map(losses.reverse().map((loss) => [loss.field, loss])).values()].reverse();
}

function problemOfValue(field: string, message: string, isCorrected: boolean): FieldIssue {
  const severity = isCorrected ? 'corrected' : 'dropped';
  return { field, message: `${message}; its value was ${severity}`, severity };
}

/** What is left at a path; in a list, whose items may have moved up, of any item. */
const within = (value: unknown, keys: unknown[]): unknown =>
  keys
    .filter((key) => typeof key === 'string')
    .reduce<unknown>((outer, key) => {
      const inner = [outer].flat().map((one) => (isObject(one) ? one[key] : undefined));
      return inner.find((found) => found != null);
    }, value);

/** What is missing in a record, although each field may be missing. */
function problemOf(record: IngestRecord, issues: Issues): string | undefined {
  if (record.kind !== 'accident' || record.vin != null || record.vehicle) return undefined;
  const wrong = issues.find(({ path, input }) => path?.[0].key === 'vin' && !isBlank(input));
  return wrong
    ? `${sentence(fieldError(wrong))}, and the accident names no vehicle`
    : 'vin is required, unless the accident names its vehicle';
}

type Issues = readonly v.BaseIssue<unknown>[];

const withKnownKind = (input: unknown): unknown =>
  isObject(input) ? { ...input, kind: kindNamed(input.kind) } : input;

/** Truncates lists, so that not every value of a refused one is checked. */
const withShortLists = (input: unknown): unknown =>
  isObject(input)
    ? Object.fromEntries(
        Object.entries(input).map(([name, value]) => [
          name,
          Array.isArray(value) ? value.slice(0, tooManyValues) : value,
        ]),
      )
    : input;

const problemsOf = (issues: Issues): string =>
  issues
    .slice(0, 5)
    .map((issue) => {
      const error = fieldError(issue);
      return error.field ? sentence(error) : 'record must be an object';
    })
    .join('; ');

function sourceIdOf(input: unknown): string | null {
  const id = isObject(input) && cleanText(input.sourceId);
  return id && id.length <= 200 ? id : null;
}
