import * as v from 'valibot';
import { dayMs } from './durations.ts';
import { type FieldError, invalid } from './errors.ts';

/** How many invalid fields a refusal names at most. */
export const maxErrors = 20;

/**
 * Checks `input` against `schema`. The refusal names every invalid field, up to 20; its message names the first.
 *
 * @throws Refusal: invalid
 */
export function parse<S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  if (Array.isArray(input)) throw invalid('Request body must be an object'); // valibot takes a list for one
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const errors = result.issues.slice(0, maxErrors).map(fieldError);
  throw invalid(sentence(errors[0] ?? { field: '', message: 'is not valid' }), errors);
}

/** What says of an object that it has a property which means nothing: a typing error must not widen what is done. */
export const unknownProperty = ({ expected }: v.StrictObjectIssue): string =>
  expected === 'never' ? 'is not a property here' : 'must be an object';

/** The field and what it must be, as one sentence: `httpVerb must be POST or PUT`. */
export const sentence = ({ field, message }: FieldError): string => `${field || 'Request body'} ${message}`;

/** Names an invalid field and what it must be, without its value. */
export function fieldError(issue: v.BaseIssue<unknown>): FieldError {
  return { field: issue.path?.map((item) => String(item.key)).join('.') ?? '', message: messageOf(issue) };
}

function messageOf(issue: v.BaseIssue<unknown>): string {
  const ownWords = !issue.message.startsWith('Invalid ');
  if (ownWords) return issue.message;
  const missing = issue.received === 'undefined' || issue.path?.at(-1)?.value === undefined;
  if (issue.kind === 'schema')
    return missing && issue.path ? 'is required' : `must be ${expectations[issue.type] ?? 'valid'}`;
  return 'is not valid';
}

/** What the schemas in use expect, in words. */
const expectations: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/**
 * Whether `text` is one line that reads as it is written, in a terminal, a CSV file or a page: it has no control
 * characters (tabs and line breaks among them), no halves of characters, and nothing that turns the direction of what
 * follows. The marks that right-to-left names are written with are fine.
 */
export const isPrintable = (text: string): boolean => !unprintable.test(text);

/** What a field that must be printable must be. */
export const mustBePrintable = 'must not contain control characters';

/** What times must be: since 1970, and before the year 10000, by UTC. */
const mustExist = 'must be a time that exists, from 1970 to 9999 in UTC';

/** RFC 3339 with any offset, as milliseconds since 1970. */
export const Timestamp = v.pipe(
  v.string(),
  v.check((text) => rfc3339.test(text), 'must be an RFC 3339 time, such as 2026-11-20T20:00:00Z'),
  v.metadata({ format: 'date-time' }),
  v.transform(milliseconds),
  v.check((ms) => ms >= 0 && ms <= lastMillisecond, mustExist),
);

const rfc3339 =
  /^(?<day>\d{4}-\d{2}-\d{2})T(?<minute>(?:[01]\d|2[0-3]):[0-5]\d):(?<second>[0-5]\d|60)(?<fraction>\.\d+)?(?<zone>Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** How far ahead of ours a provider's clock may be. */
export const maxClockLeadMs = dayMs;

/** The same, of what has happened: a version from the far future would never be overwritten. */
export const PastTime = v.pipe(
  Timestamp,
  v.check((ms) => ms <= Date.now() + maxClockLeadMs, 'must not be more than a day in the future'),
);

const lastMillisecond = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * NaN for a time that does not exist. The computer's clock has no leap seconds, which come at the end of a day in UTC:
 * each is taken for the last millisecond before it.
 */
function milliseconds(text: string): number {
  const { day = '', minute, second = '', fraction = '', zone = '' } = rfc3339.exec(text)?.groups ?? {};
  if (!isCalendarDay(day)) return Number.NaN;
  const isLeap = second === '60';
  const seconds = isLeap ? '59.999' : second + fraction.slice(0, 4);
  const ms = Date.parse(`${day}T${minute}:${seconds}${zone.toUpperCase()}`);
  return isLeap && (ms + 1) % dayMs !== 0 ? Number.NaN : ms;
}

/** Date.parse takes the 31st of February for the 3rd of March. */
function isCalendarDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** A time as the API writes it: RFC 3339, UTC, milliseconds. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

/** How many items a request asks for; more than `most` counts as `most`. */
export const limitUpTo = (most: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,15}$/, 'must be a whole number of at least 1'),
    v.transform((text) => Math.min(Number(text), most)),
    v.minValue(1, 'must be a whole number of at least 1'),
  );

/** How a text is refused that is too long, wherever it comes from. */
export const tooLong = (characters: number): string =>
  `can be at most ${characters.toLocaleString('en')} characters`;

/** At most so many characters. */
export const AtMost = (most: number) => v.maxLength<string, number, string>(most, tooLong(most));

export const maxName = 200;

/** A name that people choose and others read, in pages, tables and terminals. */
export const Name = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  AtMost(maxName),
  v.check(isPrintable, mustBePrintable),
);

/** An email address, in the form in which it is stored. */
export const Email = v.pipe(
  v.string(),
  v.trim(),
  v.toLowerCase(),
  AtMost(320),
  v.email('must be an email address'),
);
