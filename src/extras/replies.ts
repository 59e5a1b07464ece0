import * as v from 'valibot';
import { timestamp } from '../core/platform/fields.ts';

/* What operators' replies are made of: services have a schema's input, and clients get its output. */

export const id = v.pipe(v.string(), v.metadata({ format: 'uuid' }));
export const count = v.pipe(v.number(), v.metadata({ type: 'integer' }));
export const countUpTo = (maximum: number) =>
  v.pipe(v.number(), v.metadata({ type: 'integer', maximum }));

/** A time: milliseconds since 1970 in services, RFC 3339 in replies. */
export const time = v.pipe(
  v.number(),
  v.transform(timestamp),
  v.string(),
  v.metadata({ format: 'date-time' }),
);

/** A schema whose meaning its name does not say. */
export const described = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description));
