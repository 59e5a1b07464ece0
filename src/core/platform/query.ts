import * as v from 'valibot';
import { invalidField } from './errors.ts';
import { AtMost, givenTwice, limitUpTo, TimeOrDay, Uuid } from './fields.ts';
import { nearest } from './nearest.ts';

/** A parameter's schema takes all of its values; its metadata is for the document. */
const one = v.pipe(
  v.array(v.string()),
  v.maxLength(1, givenTwice),
  v.transform(([value = '']) => value),
);

export const Limit = v.optional(
  v.pipe(one, limitUpTo(500), v.metadata({ type: 'integer', minimum: 1, default: 50 })),
  ['50'],
);

export const QueryText = v.pipe(one, AtMost(1000), v.metadata({ type: 'string', maxLength: 1000 }));

const orNone = v.transform((text: string) => text || undefined);

/** Where the previous page ended; an empty cursor is none. */
export const QueryCursor = v.optional(v.pipe(QueryText, orNone));

/** The text of a cursor; undefined if it is empty. */
export const CursorText = v.optional(v.pipe(v.string(), orNone));

/** RFC 3339, or a date, which means midnight UTC; in milliseconds. */
export const QueryTime = v.pipe(
  one,
  v.transform((text) => text.replace(/ /g, '+')),
  TimeOrDay,
  v.metadata({
    anyOf: [
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'date' },
    ],
  }),
);

/** A half-open range of time in milliseconds. @throws Refusal: invalid, when it is empty */
export function rangeOf(from: unknown, to: unknown): { from?: number; to?: number } {
  if (typeof from === 'number' && typeof to === 'number' && from >= to)
    throw invalidField('from', 'must be before to');
  return { ...(typeof from === 'number' && { from }), ...(typeof to === 'number' && { to }) };
}

export const QueryId = v.pipe(
  one,
  v.uuid('must be a UUID'),
  v.toLowerCase(),
  v.metadata({ type: 'string', format: 'uuid' }),
);

export const QueryChoice = <const T extends string>(values: readonly T[], message: string) =>
  v.pipe(one, v.picklist(values, message), v.metadata({ type: 'string', enum: values }));

export const QueryCode = (values: readonly number[], message: string) =>
  v.pipe(
    one,
    v.picklist(values.map(String), message),
    v.transform(Number),
    v.metadata({ type: 'integer', enum: values }),
  );

/** `true` or `false` as D1 stores it: 1 or 0. */
export const QueryBoolean = v.pipe(
  one,
  v.picklist(['true', 'false'], 'must be true or false'),
  v.transform((word) => Number(word === 'true')),
  v.metadata({ type: 'boolean' }),
);

export const QueryInteger = (min: number, max: number) =>
  v.pipe(
    one,
    v.check(
      (text) =>
        String(Math.trunc(Number(text))) === text && Number(text) >= min && Number(text) <= max,
      `must be from ${min} to ${max}`,
    ),
    v.transform(Number),
    v.metadata({ type: 'integer', minimum: min, maximum: max }),
  );

/** Up to 100 values: the parameter is repeated, or its values are separated with commas. */
export const QueryList = v.pipe(
  v.array(v.string()),
  v.transform((values) => [
    ...new Set(values.flatMap((value) => value.split(',')).map((item) => item.trim())),
  ]),
  v.maxLength(100, 'can have at most 100 values'),
);

/** Some of a few words, repeated or separated with commas; one that is unknown is refused with the nearest. */
export const QueryWords = <const T extends string>(known: readonly T[]) =>
  v.pipe(
    QueryList,
    v.rawCheck<string[]>(({ dataset, addIssue }) => {
      const unknown =
        dataset.typed && dataset.value.find((word) => !known.some((one) => one === word));
      if (typeof unknown !== 'string') return;
      const meant = nearest(unknown, [...known]);
      addIssue({
        message: `has an unknown value${meant ? `, did you mean ${meant}?` : `; known are ${known.join(', ')}`}`,
      });
    }),
    v.transform((words) => words as T[]), // as checked
    v.metadata({ type: 'array', items: { type: 'string', enum: known } }),
  );

export const QueryIds = v.pipe(
  QueryList,
  v.check((ids) => ids.every((id) => v.is(Uuid, id)), 'must be UUIDs'),
  v.transform((ids) => ids.map((id) => id.toLowerCase())),
  v.metadata({ type: 'array', items: { type: 'string', format: 'uuid' }, maxItems: 100 }),
);

/** The schema of a list's parameter: from its values to whatever the list reads. */
export type QuerySchema = v.GenericSchema<string[], unknown>;
