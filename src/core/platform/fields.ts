import * as v from 'valibot';
import { dayMs } from './durations.ts';
import { type FieldError, invalid } from './errors.ts';
import { notKnown } from './nearest.ts';

export const maxErrors = 20;

type Named = 'property' | 'parameter';

/**
 * Validates a body, which has nothing but what the schema knows and `readOnly` properties that
 * responses show. Optional properties that are null or empty are as if absent.
 * @throws Refusal: invalid, naming up to 20 fields
 */
export const parse = <S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  readOnly: string[] = [],
) => outputOf(checked(schema, input, readOnly));

/** Validates the parameters of a query by a schema. @throws Refusal: invalid */
export const parseQuery = <S extends v.GenericSchema>(schema: S, query: object) =>
  outputOf(checked(schema, query, [], 'parameter'));

export const givenTwice = 'must be given only once';

/** The value of each parameter. @throws Refusal: invalid, for those that are given more than once */
export function singleValues(queries: Record<string, string[]>): Record<string, string> {
  const errors = Object.entries(queries).flatMap(([name, { length }]) =>
    length > 1 ? [{ field: written([name]), message: givenTwice }] : [],
  );
  if (errors[0]) throw invalid(sentence(errors[0]), errors.slice(0, maxErrors));
  return Object.fromEntries(Object.entries(queries).map(([name, [value = '']]) => [name, value]));
}

type Checked<T> = { output: T; errors: [] } | { errors: [FieldError, ...FieldError[]] };

function outputOf<T>(result: Checked<T>): T {
  if ('output' in result) return result.output;
  throw invalid(sentence(result.errors[0]), result.errors);
}

/** As `parse`, but returns what is wrong. */
export function checked<S extends v.GenericSchema>(
  schema: S,
  input: unknown,
  readOnly: string[] = [],
  named: Named = 'property',
): Checked<v.InferOutput<S>> {
  const unknown: FieldError[] = [];
  const tidy = tidied(schema as Shape, input, (path, known) => {
    const name = String(path.at(-1));
    const isRepeated = path.length === 1 && readOnly.includes(name);
    if (!isRepeated && unknown.length < maxErrors)
      unknown.push({ field: written(path), message: notKnown(named, name, known) });
  });
  const result = v.safeParse(schema, tidy);
  const [first, ...others] = [...unknown, ...(result.issues ?? []).map(fieldError)];
  if (first) return { errors: [first, ...others.slice(0, maxErrors - 1)] };
  return { output: result.output as v.InferOutput<S>, errors: [] }; // without issues it is one
}

/** What is read of a schema: its kind, properties, and what it wraps. */
type Shape = { type: string; entries?: { [name: string]: Shape }; wrapped?: Shape };

export const isObject = (input: unknown): input is { [name: string]: unknown } =>
  typeof input === 'object' && input !== null && !Array.isArray(input);

/** `input` without what is unknown, which is passed to `refuse`, and what counts as absent. */
function tidied(
  { entries, wrapped }: Shape,
  input: unknown,
  refuse: (path: string[], known: string[]) => void,
  path: string[] = [],
): unknown {
  if (wrapped) return tidied(wrapped, input, refuse, path);
  if (!entries) return input;
  if (Array.isArray(input)) return ''; // valibot accepts a list as an object
  if (!isObject(input)) return input;
  for (const name of Object.keys(input))
    if (!Object.hasOwn(entries, name)) refuse([...path, name], Object.keys(entries));
  const values = Object.entries(entries).map(([name, entry]) => [
    name,
    tidied(entry, withoutEmpty(entry, input[name]), refuse, [...path, name]),
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** A property's value: empty is null where that means something, else absent. */
function withoutEmpty(entry: Shape, value: unknown): unknown {
  const isEmptyList =
    Array.isArray(value) && value.length === 0 && innermost(entry).type === 'array';
  if (value !== null && value !== '' && !isEmptyList) return value;
  if (entry.type === 'nullable' || entry.wrapped?.type === 'nullable') return null;
  return entry.type === 'optional' ? undefined : value;
}

const innermost = (shape: Shape): Shape => (shape.wrapped ? innermost(shape.wrapped) : shape);

/** A field error as a sentence: `httpVerb must be POST or PUT`. */
export const sentence = ({ field, message }: FieldError): string =>
  `${field || 'Request body'} ${message}`;

export function fieldError(issue: v.BaseIssue<unknown>): FieldError {
  return { field: written(issue.path?.map(({ key }) => key) ?? []), message: messageOf(issue) };
}

const longestName = 50;

/** A path with names that clients chose themselves, which may be anything. */
export const written = (path: unknown[]): string =>
  path
    .map(String)
    .map((name) => (isPrintable(name) && name.trim() ? shortened(name) : '(not printable)'))
    .join('.');

/** A text of at most `longest` characters, and a sign that it was longer. */
export const shortened = (text: string, longest = longestName): string =>
  text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;

function messageOf(issue: v.BaseIssue<unknown>): string {
  const ownWords = !issue.message.startsWith('Invalid ');
  if (ownWords) return issue.message;
  const missing = issue.received === 'undefined' || issue.path?.at(-1)?.value === undefined;
  if (issue.kind === 'schema')
    return missing && issue.path ? 'is required' : `must be ${expectations[issue.type] ?? 'valid'}`;
  return 'is not valid';
}

const expectations: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  strict_object: 'an object',
};

export const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u;

/** Whether `text` is one line that displays as written, without control or direction characters. */
export const isPrintable = (text: string): boolean => !unprintable.test(text);

export const mustBePrintable = 'must not contain control characters';

const mustExist = 'must be a time that exists, from 1970 to 9999 in UTC';

/** RFC 3339 with any offset, as milliseconds since 1970. */
export const Timestamp = v.pipe(
  v.string(),
  v.check((text) => rfc3339.test(text), 'must be an RFC 3339 time, such as 2026-11-20T20:00:00Z'),
  v.metadata({ format: 'date-time' }),
  v.transform(milliseconds),
  v.check((ms) => ms >= 0 && ms <= lastMillisecond, mustExist),
);

/** An RFC 3339 time, or a date, which means midnight UTC. For parameters alone: in a record a date would be wrong. */
export const TimeOrDay = v.pipe(
  v.string(),
  v.metadata({ type: 'string', anyOf: [{ format: 'date-time' }, { format: 'date' }] }),
  v.transform((text) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00:00Z` : text)),
  Timestamp,
);

const rfc3339 =
  /^(?<day>\d{4}-\d{2}-\d{2})T(?<minute>(?:[01]\d|2[0-3]):[0-5]\d):(?<second>[0-5]\d|60)(?<fraction>\.\d+)?(?<zone>Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/** How far a provider's clock may be ahead of ours. */
export const maxClockLeadMs = dayMs;

/** A time of something past: a version from the far future could never be overwritten. */
export const PastTime = v.pipe(
  Timestamp,
  v.check((ms) => ms <= Date.now() + maxClockLeadMs, 'must not be more than a day in the future'),
);

const lastMillisecond = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** NaN for a time that does not exist; a leap second is the millisecond before. */
function milliseconds(text: string): number {
  const {
    day = '',
    minute,
    second = '',
    fraction = '',
    zone = '',
  } = rfc3339.exec(text)?.groups ?? {};
  if (!isCalendarDay(day)) return Number.NaN;
  const isLeap = second === '60';
  const seconds = isLeap ? '59.999' : second + fraction.slice(0, 4);
  const ms = Date.parse(`${day}T${minute}:${seconds}${zone.toUpperCase()}`);
  return isLeap && (ms + 1) % dayMs !== 0 ? Number.NaN : ms;
}

/** Date.parse accepts the 31st of February as the 3rd of March. */
const isCalendarDay = (day: string): boolean =>
  new Date(`${day}T00:00Z`).toJSON()?.startsWith(day) ?? false;

/** A time as the API writes it: RFC 3339, UTC, milliseconds. */
export const timestamp = (ms: number): string => new Date(ms).toISOString();

/** How many items a request asks for, capped at `most`. */
export const limitUpTo = (most: number) =>
  v.pipe(
    v.string(),
    v.metadata({ type: 'integer', minimum: 1 }),
    v.regex(/^\d+$/, 'must be a whole number of at least 1'),
    v.transform((text) => Math.min(Number(text), most)),
    v.minValue(1, 'must be a whole number of at least 1'),
  );

export const tooLong = (characters: number): string =>
  `can be at most ${characters.toLocaleString('en')} characters`;

export const AtMost = (most: number) => v.maxLength<string, number, string>(most, tooLong(most));

/** One line of text that people type and others read. */
export const Line = (longest: number) =>
  v.pipe(v.string(), v.trim(), AtMost(longest), v.check(isPrintable, mustBePrintable));

/** Texts by name, of which valibot's `record` would leave some out, such as `constructor`. */
export const Texts = v.custom<Record<string, string>>(
  (input) => isObject(input) && Object.values(input).every((value) => typeof value === 'string'),
  'must be an object of strings',
);

/** Lists of texts by name. */
export const TextLists = v.custom<Record<string, string[]>>(
  (input) =>
    isObject(input) && Object.values(input).every((list) => v.is(v.array(v.string()), list)),
  'must be an object of lists of strings',
);

/** What responses have: an id, a time in UTC, a whole number. */
export const Uuid = v.pipe(v.string(), v.uuid());
export const UtcTime = v.pipe(v.string(), v.isoTimestamp());
export const Whole = v.pipe(v.number(), v.integer());

/** One of a few whole numbers. */
export const OneOf = <const T extends number>(values: readonly T[], message: string) =>
  v.pipe(v.picklist(values, message), v.metadata({ type: 'integer' }));

export const maxName = 200;

/** A name that people choose and others read, in pages, tables and terminals. */
export const Name = v.pipe(Line(maxName), v.minLength(1, 'must not be empty'));

/** An address that mail servers accept; an international domain becomes its ASCII form, `xn--…`. */
export const EmailAddress = v.pipe(
  v.string(),
  v.trim(),
  AtMost(320),
  v.metadata({ format: 'email' }),
  v.transform(withAsciiDomain),
  v.check((text) => emailForm.test(text), 'must be an email address'),
);

/** An email address, normalised as it is stored for people who sign in. */
export const Email = v.pipe(EmailAddress, v.toLowerCase());

export const emailForm =
  /^(?=[^@]{1,64}@[^@]{1,253}$)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+(?!\d+$)[a-z\d](?:[a-z\d-]{0,61}[a-z\d])$/i;

/** Characters with a meaning in URLs remain, so that the address is refused. */
function withAsciiDomain(address: string): string {
  const [, local, domain = ''] = /^(.*@)(.*[^\0-\x7F].*)$/su.exec(address) ?? [];
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(domain)) return address;
  return local + (URL.parse(`https://${domain}`)?.hostname ?? domain);
}
