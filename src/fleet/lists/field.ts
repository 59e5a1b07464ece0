import * as v from 'valibot';
import type { AccountTable } from '../../platform/db/tables.ts';
import type { QuerySchema } from '../../platform/query.ts';

/**
 * One field of a resource, with all that follows from it: what records hold (`In`), what D1 keeps (`Kept`), what lists
 * show (`Shown`), where it is used and, for a reference, the name that records have for it. Made by the functions of
 * `field-types.ts`, and changed by those below.
 */
export type Field<
  In = unknown,
  Kept = unknown,
  Shown = unknown,
  U extends Use = Use,
  N extends string | null = string | null,
> = {
  description: string;
  /** As lists show it; records hold the same, unless it is a reference. */
  example: unknown;
  /** Turns what a record holds into what D1 keeps. */
  input: v.GenericSchema<In, unknown>;
  output: v.GenericSchema<Shown>;
  use: U;
  holds: Holds;
  nullable: boolean;
  /** Whether items leave it out where there is none. */
  ifAny?: boolean;
  /** Turns what D1 returns, unless it is null, into what lists show. Absent where they are the same. */
  read?: (stored: never) => unknown;
  /** How the parameter of a filter by this field reads. */
  query?: QuerySchema;
  /** What is kept when a record leaves it out. */
  fallback?: Kept;
  /** What leaving it out means, as a sentence. */
  omitted?: string;
  /** How much of it a record may hold, as a sentence, where the contract leaves that open. */
  most?: string;
  /** The name that records have for it, where it is not the field's own: the kind that it refers to. */
  recordName: N;
  refersTo?: Referable;
  copyOf?: { resource: Referable; key: string };
  /** Keeps the value that it had first. */
  fixed?: boolean;
};

/**
 * Where a field's value comes from, and where it goes. `given`: records hold it. `derivable`: records may hold it.
 * `derived`: no record holds it. `copied`: the record referred to holds it. `unlisted`: records hold it, but it is
 * neither kept nor listed.
 */
export type Use = 'given' | 'derivable' | 'derived' | 'copied' | 'unlisted';

/**
 * What a field holds: one value, a list, or an object by the names of its members. The columns of D1, CSV and Parquet
 * follow from it. D1 keeps times as milliseconds since 1970, booleans as 0 and 1, and lists and objects as JSON, in which
 * times are text and members that are null are left out.
 */
export type Holds = Scalar | [Scalar | Members] | Members;
export type Scalar = 'text' | 'uuid' | 'time' | 'integer' | 'number' | 'boolean';
export type Members = { [name: string]: Scalar };

/** What the columns of a table or file hold. */
export type Columns = { [name: string]: Pick<Field, 'holds' | 'nullable'> };

export type Fields = { [name: string]: Field };

/** A resource, as others refer to it. */
export type Referable<K extends string = string, F extends Fields = Fields> = {
  kind: K;
  fields: F;
  table: AccountTable;
  itemExample: { id: string };
  recordExample: { sourceId: string };
};

type Optional<In> = In | null | undefined;

/** A field that records may leave out, and that lists show as null then. */
export const optional = <In, Kept, Shown, U extends Use, N extends string | null>({
  fallback: _,
  ...field
}: Field<In, Kept, Shown, U, N>): Field<Optional<In>, Kept | null, Shown | null, U, N> => ({
  ...field,
  input: v.nullish(field.input),
  output: v.nullable(field.output),
  nullable: true,
});

/** A field that items leave out where there is none. No record holds it. */
export const ifAny = <In, Kept, Shown>(
  field: Field<In, Kept, Shown, 'given', null>,
): Field<In, Kept | null, Shown | undefined, 'derived', null> => ({
  ...field,
  output: v.optional(field.output),
  nullable: true,
  ifAny: true,
  use: 'derived',
});

/** A field that records may leave out, and that is `fallback` then. */
export const orElse = <In, Kept, Shown, U extends Use>(
  field: Field<In, Kept, Shown, U, null>,
  fallback: NoInfer<Kept>,
): Field<Optional<In>, Kept, Shown, U, null> => ({
  ...field,
  input: v.nullish(field.input),
  fallback,
  omitted: `Defaults to \`${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}\`.`,
});

/** A field that no record holds: the resource's `derive` works it out. */
export const derived = <In, Kept, Shown>(
  field: Field<In, Kept, Shown, 'given', null>,
): Field<In, Kept, Shown, 'derived', null> => ({ ...field, use: 'derived' });

/** A field that `derive` works out where a record leaves it out; `omitted` says how, as a sentence. */
export const derivable = <In, Kept, Shown>(
  field: Field<In, Kept, Shown, 'given', null>,
  omitted: string,
): Field<Optional<In>, Kept, Shown, 'derivable', null> => ({
  ...field,
  input: v.nullish(field.input),
  use: 'derivable',
  omitted,
});

/** A field that records hold for notifications alone. */
export const unlisted = <In, Kept, Shown>(
  field: Field<In, Kept, Shown, 'given', null>,
): Field<In, Kept, Shown, 'unlisted', null> => ({ ...field, use: 'unlisted' });

/** A field that keeps the value that it had when the record first came in. */
export const fixed = <F extends Field>(field: F): F => ({ ...field, fixed: true });

/** A field of the record that this one refers to, as it was when this one first came in. */
export function copyOf<F extends Fields, N extends keyof F & string>(
  resource: Referable<string, F>,
  key: N,
  description: string,
): F[N] extends Field<infer In, infer Kept, infer Shown> ? Field<In, Kept, Shown, 'copied', null> : never;
export function copyOf(resource: Referable, key: string, description: string): Field {
  const { [key]: original } = resource.fields;
  if (!original) throw new Error(`${resource.kind} has no ${key} to copy`);
  return { ...original, description, use: 'copied', copyOf: { resource, key }, fixed: true };
}
