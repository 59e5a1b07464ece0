import * as v from 'valibot';
import {
  EmailAddress,
  isPrintable,
  mustBePrintable,
  OneOf,
  PastTime,
  timestamp,
  tooLong,
  UtcTime,
  Uuid,
  Whole,
} from '../../platform/fields.ts';
import {
  QueryBoolean,
  QueryChoice,
  QueryCode,
  QueryIds,
  QueryInteger,
  QueryText,
} from '../../platform/query.ts';
import {
  cleanBoolean,
  cleanList,
  cleanNumber,
  cleanText,
  cleanTime,
  cleanWord,
  cutText,
  isBlank,
  jsonBytes,
} from './clean.ts';
import type { Field, Holds, Referable } from './field.ts';
import { isIdentifier, isNothing, withoutInvisible } from './nothing.ts';
import { upperVin, vinOf } from './vin.ts';

type Words<T = string> = [description: string, example: T];

/** A field of a type. */
export const field = <I extends v.GenericSchema, O extends v.GenericSchema>(
  holds: Holds,
  input: I,
  output: O,
  [description, example]: Words<unknown>,
  more: Partial<Pick<Field, 'read' | 'query' | 'most' | 'clean'>> = {},
): Field<v.InferInput<I>, v.InferOutput<I>, v.InferOutput<O>, 'given'> => ({
  description,
  example,
  input,
  output,
  use: 'given',
  holds,
  nullable: false,
  ...more,
});

// Checks that JSON Schema can express have metadata for the API's document beside them.

const empty = 'must not be empty';
const NotEmpty = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, empty),
  v.check((value) => !isBlank(value), empty),
);
const Printable = v.check<string, string>(isPrintable, mustBePrintable);
const Characters = (max: number) => v.pipe(NotEmpty, v.maxLength(max, tooLong(max)), Printable);
const Something = v.check<string, string>(
  (value) => !isNothing(value),
  'must not be a placeholder',
);
/** What identifies something: texts that look the same are. */
const Identifier = (max: number) =>
  v.pipe(
    Characters(max),
    v.check(isIdentifier, 'must not be a placeholder or a rounded number'),
    v.transform(withoutInvisible),
  );
const Bounded = (min: number, max: number) =>
  v.pipe(
    v.number(),
    v.check((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
    v.metadata({ minimum: min, maximum: max }),
  );

/** Text that people read: what is too long is cut. */
export const text = (max: number, ...words: Words) =>
  field('text', v.pipe(Characters(max), Something), v.string(), words, {
    query: QueryText,
    clean: cutText(max),
  });

/** Text that identifies something, such as a number plate: it would be wrong if it were cut. */
export const identifier = (max: number, ...words: Words) => ({
  ...text(max, ...words),
  input: Identifier(max),
  query: comparedAs(withoutInvisible),
  clean: cleanText,
});

const OfBytes = (max: number) => withinBytes<string>(max + 2, `can be at most ${max} bytes`); // of which two are quotes

/** Text of at most `max` bytes, for what other records copy. */
export const shortText = (max: number, ...words: Words) => ({
  ...text(max, ...words),
  input: v.pipe(Characters(max), OfBytes(max), Something),
  most: `At most ${max} bytes.`,
  clean: cutText(max, max + 2),
});

/** The most bytes of a VIN, some of which are longer than the standard's 17 characters. */
export const maxVinBytes = 40;

/** A VIN, in upper case wherever it is kept or compared; empty for what cannot be one. */
export const vin = (description: string) => {
  const short = shortText(maxVinBytes, description, '1FUJGLDR5CLBP8834');
  const input = v.pipe(Characters(maxVinBytes), OfBytes(maxVinBytes), v.transform(vinOf));
  return { ...short, input, query: comparedAs(upperVin), clean: cleanText };
};

const comparedAs = (form: (text: string) => string) =>
  v.pipe(QueryText, v.transform(form), v.metadata({ type: 'string', maxLength: 1000 }));

export const email = (...words: Words) =>
  field('text', EmailAddress, v.string(), words, { clean: cleanText });

/** An absolute https URL of at most `max` characters. The limit is not in the contract. */
export const httpsUrl = (max: number, ...words: Words) => {
  const Address = v.pipe(
    NotEmpty,
    v.check((value) => value.length <= max, tooLong(max)),
    Printable,
    v.check((value) => URL.parse(value)?.protocol === 'https:', 'must be an absolute https URL'),
    v.metadata({ format: 'uri' }),
  );
  return field('text', Address, v.pipe(v.string(), v.url()), words, {
    most: `At most ${max.toLocaleString('en')} characters.`,
    clean: cleanText,
  });
};

/** The limits of a list: number of values, characters of each, and bytes in all as JSON. */
type ListLimits = { max: number; length: number; bytes: number };

/** More values than any field accepts. */
export const tooManyValues = 101;

export const texts = (limits: ListLimits, ...words: Words<string[]>) =>
  arrayOf(v.pipe(NotEmpty, Printable), limits, words);

export const emails = (limits: ListLimits, ...words: Words<string[]>) =>
  arrayOf(EmailAddress, limits, words);

/** The limits are not in the contract, so that they can follow what fleets need. */
const arrayOf = <S extends v.GenericSchema<string>>(
  each: S,
  { max, length, bytes }: ListLimits,
  words: Words<string[]>,
) => {
  const Value = v.pipe(
    each,
    v.check((value) => value.length <= length, tooLong(length)),
  );
  const size = `${bytes.toLocaleString('en')} bytes as JSON`;
  const Values = v.pipe(
    v.array(Value),
    v.check((values) => values.length <= max, `can have at most ${max} values`),
    withinBytes<string[]>(bytes, `can be at most ${size}`),
  );
  return field(['text'], Values, v.array(v.string()), words, {
    read: JSON.parse,
    most: `At most ${max}, each of at most ${length} characters, and ${size}.`,
    clean: cleanList(Value, max, bytes),
  });
};

const withinBytes = <T extends string | string[]>(max: number, message: string) =>
  v.check((value: T) => jsonBytes(value) <= max, message);

export const number = (min: number, max: number, ...words: Words<number>) =>
  field('number', Bounded(min, max), v.number(), words, { clean: cleanNumber(min, max) });

/** A number of which providers may send the negative. */
export const magnitude = (max: number, ...words: Words<number>) => ({
  ...number(0, max, ...words),
  clean: (value: unknown) => Math.abs(Number(cleanNumber(-max, max)(value) ?? Number.NaN)),
});

/** A whole number. The bounds are not in the contract, so that they can be widened. */
export const integer = (min: number, max: number, ...words: Words<number>) => {
  const isBetween = (value: number) => Number.isInteger(value) && value >= min && value <= max;
  const Integer = v.pipe(
    v.number(),
    v.check(isBetween, `must be a whole number from ${min} to ${max}`),
    v.metadata({ type: 'integer', minimum: min, maximum: max }),
  );
  const query = QueryInteger(min, max);
  return field('integer', Integer, Whole, words, { query, clean: cleanNumber(min, max) });
};

/** A whole number on a scale that is part of the contract, from `min` to `max`. */
export const scale = (min: number, max: number, ...words: Words<number>) => ({
  ...integer(min, max, ...words),
  output: v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max)),
});

export const boolean = (...words: Words<boolean>) =>
  field('boolean', v.boolean(), v.boolean(), words, {
    read: Boolean,
    query: QueryBoolean,
    clean: cleanBoolean,
  });

const someTime = '2026-11-20T20:00:00.000Z';

/** A time, at most a day ahead: RFC 3339 in records and lists, milliseconds since 1970 in D1. */
export const time = (description: string, example = someTime) =>
  field('time', PastTime, UtcTime, [description, example], { read: timestamp, clean: cleanTime });

export const choice = <const T extends string>(values: readonly T[], ...words: Words<T>) => {
  const message = `must be ${alternatives(values)}`;
  return field('text', v.picklist(values, message), v.picklist(values), words, {
    query: QueryChoice(values, message),
    clean: cleanWord(Object.fromEntries(values.map((value) => [value, value]))),
  });
};

/** One of a few numbers with meanings. */
export const code = <const T extends number>(
  meanings: { [word: string]: T },
  ...words: Words<NoInfer<T>>
) => {
  const values = Object.values(meanings);
  const named = Object.entries(meanings).map(([word, value]) => `${value} (${word})`);
  const message = `must be ${alternatives(named)}`;
  const Code = OneOf(values, message);
  return field('integer', Code, Code, words, {
    query: QueryCode(values, message),
    clean: cleanWord(meanings),
  });
};

/** `a, b or c` */
export const alternatives = (values: readonly string[]): string =>
  [values.slice(0, -1).join(', '), ...values.slice(-1)].filter(Boolean).join(' or ');

/** An id given by the service. */
export const uuid = (...words: Words) => field('uuid', Uuid, Uuid, words, { query: QueryIds });

/** The id of another record of the connection, known or in the same call if required. */
export const reference = (
  refersTo: Referable,
  description: string,
): Field<string, string, string, 'reference'> => ({
  ...field('uuid', Identifier(200), Uuid, [description, refersTo.itemExample.id], {
    query: QueryIds,
  }),
  clean: cleanText,
  use: 'reference',
  refersTo,
});
