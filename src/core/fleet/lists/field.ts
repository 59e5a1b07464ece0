import * as v from 'valibot';
import type { AccountTable } from '../../platform/db/schema/types.ts';
import type { QuerySchema } from '../../platform/query.ts';
import type { Clean } from './clean.ts';

/** A field of a resource: its form in records (`In`), in D1 (`Kept`) and in lists (`Shown`). */
export type Field<In = unknown, Kept = unknown, Shown = unknown, U extends Use = Use> = {
  description: string;
  /** What it means in a record, if that is something else. */
  inRecord?: string;
  /** As lists show it; the same in records, unless it is a reference. */
  example: unknown;
  /** Converts the value in a record to that in D1. */
  input: v.GenericSchema<In, unknown>;
  /** What can be used of a value that `input` refuses. */
  clean?: Clean;
  output: v.GenericSchema<Shown>;
  use: U;
  holds: Holds;
  nullable: boolean;
  /** Converts a value of D1, unless null, to that in lists. Absent if they are the same. */
  read?: (stored: never) => unknown;
  /** The parameter of a filter by this field. */
  query?: QuerySchema;
  /** The value stored when a record omits it. */
  fallback?: Kept;
  /** What omitting it means, as a sentence. */
  omitted?: string;
  /** How much a record may have of it, as a sentence, where the contract leaves that open. */
  most?: string;
  refersTo?: Referable;
  copyOf?: { resource: Referable; key: string };
  /** Keeps its first value while the field with this key has the same one. */
  fixedBy?: string;
};

/**
 * Where a field's value comes from:
 * - `given`: records have it
 * - `reference`: records have it, under the name of the kind that it refers to
 * - `unlisted`: records have it, for notifications, and lists do not
 * - `derivable`: records may have it, otherwise `derive` computes it
 * - `derived`: `derive` computes it; `internal`: the same, but it is not listed
 * - `copied`: from the record referred to
 * - `added`: the statement that stores the record adds it
 */
export type Use = Given | 'derived' | 'internal' | 'copied' | 'added';
export type Given = 'given' | 'reference' | 'unlisted' | 'derivable';

/** Whether records may have the field. */
export const isGiven = ({ use }: Field): boolean =>
  use === 'given' || use === 'reference' || use === 'unlisted' || use === 'derivable';

/**
 * The type of a field's value: a scalar, a list, or an object by the names of its members. D1
 * stores times as milliseconds since 1970, booleans as 0 and 1, and lists and objects as JSON, with
 * times as text and without null members.
 */
export type Holds = Scalar | [Scalar | Members] | Members;
export type Scalar = 'text' | 'uuid' | 'time' | 'integer' | 'number' | 'boolean';
export type Members = { [name: string]: Scalar };

export type Columns = { [name: string]: Pick<Field, 'holds' | 'nullable'> };

export type Fields = { [name: string]: Field };

/** A resource that others can refer to. */
export type Referable<F extends Fields = Fields> = {
  kind: string;
  fields: F;
  table: AccountTable;
  itemExample: { id: string };
  recordExample: { sourceId: string };
};

type Optional<In> = In | null | undefined;

/** A field that records may omit; then lists show null. */
export const optional = <In, Kept, Shown, U extends Use>({
  fallback: _,
  ...field
}: Field<In, Kept, Shown, U>): Field<Optional<In>, Kept | null, Shown | null, U> => ({
  ...field,
  input: v.nullish(field.input),
  output: v.nullable(field.output),
  nullable: true,
});

/** Whether a record can be without the field. */
export const isOmissible = ({ nullable, omitted }: Field): boolean =>
  nullable || omitted !== undefined;

/** A field that records may omit; then it is `fallback`. */
export const orElse = <In, Kept, Shown, U extends Use>(
  field: Field<In, Kept, Shown, U>,
  fallback: NoInfer<Kept>,
): Field<Optional<In>, Kept, Shown, U> => ({
  ...field,
  input: v.nullish(field.input),
  fallback,
  omitted: `Defaults to \`${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}\`.`,
});

const using =
  <U extends Use>(use: U) =>
  <In, Kept, Shown>(field: Field<In, Kept, Shown, 'given'>): Field<In, Kept, Shown, U> => ({
    ...field,
    use,
  });

/** A field that no record has: the resource's `derive` computes it. */
export const derived = using('derived');

/** The same for the service's own use. */
export const internal = using('internal');

/** A field for notifications only. */
export const unlisted = using('unlisted');

/** A field that is added when its record is stored. */
export const added = using('added');

/** A field that `derive` computes if a record omits it; `omitted` describes how, as a sentence. */
export const derivable = <In, Kept, Shown>(
  field: Field<In, Kept, Shown, 'given'>,
  omitted: string,
): Field<Optional<In>, Kept, Shown, 'derivable'> => ({
  ...field,
  input: v.nullish(field.input),
  use: 'derivable',
  omitted,
});

/** A field that keeps its first value. */
export const fixed = <F extends Field>(field: F): F => ({ ...field, fixedBy: 'id' });

/** A field of the referenced record, as it was when this one was first received with that reference. */
export function copyOf<F extends Fields, N extends keyof F & string>(
  resource: Referable<F>,
  key: N,
  description: string,
): F[N] extends Field<infer In, infer Kept, infer Shown> ? Field<In, Kept, Shown, 'copied'> : never;
export function copyOf(resource: Referable, key: string, description: string): Field {
  const { [key]: original } = resource.fields;
  if (!original) throw new Error(`${resource.kind} has no ${key} to copy`);
  const fixedBy = `${resource.kind}Id`;
  return { ...original, description, use: 'copied', copyOf: { resource, key }, fixedBy };
}
