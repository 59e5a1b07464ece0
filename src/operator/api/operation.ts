import * as v from 'valibot';
import { timestamp } from '../../platform/fields.ts';

/** One operation of the operators' API: of its route, documentation and tool. */
export type Operation = {
  /** The method and path below `/operator`; an `:id` is of the list that begins it. */
  call: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`;
  summary: string;
  description?: string;
  query?: v.ObjectSchema<v.ObjectEntries, undefined>;
  body?: v.ObjectSchema<v.ObjectEntries, undefined>;
  /** The type of `data`: handlers return the schema's input, which is not validated. */
  reply: v.GenericSchema;
  part?: 'slice';
};

/** A schema whose meaning its name does not say. */
export const described = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description));

/* What replies are made of. */

export const id = v.pipe(v.string(), v.metadata({ format: 'uuid' }));
export const count = v.pipe(v.number(), v.metadata({ type: 'integer' }));
export const countUpTo = (maximum: number) => v.pipe(v.number(), v.metadata({ type: 'integer', maximum }));

/** A time: milliseconds since 1970 in handlers, RFC 3339 in replies. */
export const time = v.pipe(
  v.number(),
  v.transform(timestamp),
  v.string(),
  v.metadata({ format: 'date-time' }),
);

/* What requests are made of. */

export const Uuid = v.pipe(v.string(), v.uuid('must be a UUID'));

/** A whole number; a missing one stays unchanged, and null is none. */
export const wholeNumber = (least: number, most: number) => {
  const must = `must be a whole number from ${least} to ${most}`;
  return v.optional(
    v.nullable(v.pipe(v.number(must), v.integer(must), v.minValue(least, must), v.maxValue(most, must))),
  );
};

/* Where counting stops: a count that reaches one means that many or more. */

export const maxAccountsCounted = 10_000;
export const maxPendingCounted = 10_000;
export const maxListed = 20;
export const maxFailedCounted = 100;
