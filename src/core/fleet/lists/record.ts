import * as v from 'valibot';
import { recordId } from '../../platform/db/ids.ts';
import type { Feed } from '../incidents/translate.ts';
import { type Field, type Fields, type Given, isGiven, optional } from './field.ts';
import { identifier, time } from './field-types.ts';

/** Names that no field can have, because records, rows and pages use them. */
type ReservedName =
  | keyof RecordRow<Record<never, Field>>
  | ('kind' | 'sourceUpdatedAt')
  | ('hit' | 'nth' | 'searchKeys' | 'size' | 'total');

export type RecordDeclaration<K extends string, F extends Fields> = {
  kind: K;
  /** A provider's sourceId, for examples. */
  sourceId: string;
  /** What people find it by, as `searchKeys` makes it. */
  searchKeys?: (row: RecordRow<F>) => string[];
  /** Its description in the API's document; by default `A new …, or a new version of one.` */
  record?: string;
  fields: F & { [N in ReservedName]?: never };
} & (keyof Derived<F> extends never
  ? { derive?: undefined }
  : {
      /** Computes the derived fields, and the derivable ones that the record omits. */
      derive: (record: RecordOutput<K, F>, source: Source) => Derived<F>;
    });

/** A kind of record that connectors send. */
type RecordKind<K extends string = string, F extends Fields = Fields> = {
  kind: K;
  fields: F;
  record: v.GenericSchema<RecordInput<K, F>, RecordOutput<K, F>>;
  recordDescription: string;
  /** Its fields, by their names in a record. */
  recordFields: { [name: string]: Field };
  recordExample: { kind: K; sourceId: string };
  /** Turns a validated record into a row, whose ids are computed from sourceIds. */
  toRow: (record: object, source: Source) => RecordRow<F>;
};

/** The feed of records, when they were received (milliseconds since 1970), and in which request. */
export type Source = Feed & {
  accountId: string;
  connectionId: string;
  tSP: string;
  now: number;
  requestId: string;
};

/** Makes a kind of record from its declaration. */
export function recordKind<const K extends string, F extends Fields>(
  declaration: RecordDeclaration<K, F>,
): RecordKind<K, F> {
  const { kind, sourceId } = declaration;
  const fields: F = declaration.fields;
  const held = Object.entries({ sourceId: sourceIdText(sourceId), ...fields })
    .filter(([, field]) => isGiven(field))
    .map(([key, field]): Held => ({ key, name: field.refersTo?.kind ?? key, field }));
  const map = <T>(value: (field: Field) => T) =>
    Object.fromEntries(held.map(({ name, field }) => [name, value(field)]));
  const schema: v.GenericSchema = v.object({
    kind: v.literal(kind),
    sourceUpdatedAt: sourceUpdatedAt.input,
    ...map(({ input }) => input),
  });
  return {
    kind,
    fields,
    record: schema as RecordKind<K, F>['record'], // its entries are these very fields
    recordDescription: declaration.record ?? `A new ${inWords(kind)}, or a new version of one.`,
    recordFields: { sourceUpdatedAt, ...map((field) => field) },
    recordExample: { ...map(exampleInRecord), kind, sourceId },
    toRow: rowMaker(declaration, held),
  };
}

export const sourceIdText = (example: string) =>
  identifier(200, "The provider's own identifier.", example);

const sourceUpdatedAt = optional(
  time(
    'When the provider last changed it. An older version never overwrites a newer one. At most a day in the future.',
  ),
);

type Held = { key: string; name: string; field: Field };

/** A value of the field as records have it. */
export const exampleInRecord = ({ refersTo, example }: Field): unknown =>
  refersTo ? refersTo.recordExample.sourceId : example;

function rowMaker<K extends string, F extends Fields>(
  { kind, derive, searchKeys }: RecordDeclaration<K, F>,
  held: Held[],
): RecordKind<K, F>['toRow'] {
  return (accepted, source) => {
    const { accountId, connectionId, now } = source;
    const record = accepted as RecordOutput<K, F> & { [name: string]: unknown }; // by this kind's own schema
    const idOf = (kind: string, sourceId: unknown) =>
      sourceId ? recordId(connectionId, kind, String(sourceId)) : null;
    const row: { [key: string]: unknown } = {
      id: idOf(kind, record.sourceId),
      accountId,
      connectionId,
      sourceUpdatedAt: record.sourceUpdatedAt,
      createdAt: now,
      updatedAt: now,
    };
    for (const { key, name, field } of held) {
      const value = record[name];
      row[key] = field.refersTo ? idOf(field.refersTo.kind, value) : (value ?? field.fallback);
    }
    Object.assign(row, derive?.(record, source));
    const made = row as RecordRow<F>; // just put together from these fields
    if (searchKeys) row.searchKeys = searchKeys(made);
    return made;
  };
}

/** `safety event` for `safetyEvent`. */
const inWords = (kind: string): string =>
  kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

type InRecord<F extends Fields> = {
  [N in keyof F as F[N]['use'] extends Given ? NameInRecord<N, F[N]> : never]: F[N];
};
type NameInRecord<N, F extends Field> = F['use'] extends 'reference'
  ? N extends `${infer Kind}Id`
    ? Kind
    : never
  : N;

type RecordInput<K extends string, F extends Fields> = {
  kind: K;
  sourceId: string;
  sourceUpdatedAt?: string | null;
} & OptionalWhereUndefined<{ [N in keyof InRecord<F>]: InOf<InRecord<F>[N]> }>;

/** A validated record, with times in milliseconds since 1970. */
type RecordOutput<K extends string, F extends Fields> = {
  kind: K;
  sourceId: string;
  sourceUpdatedAt?: number | null | undefined;
} & OptionalWhereUndefined<{ [N in keyof InRecord<F>]: AcceptedOf<InRecord<F>[N]> }>;

/** A record as stored in D1, without what it copies from others. */
type RecordRow<F extends Fields> = {
  id: string;
  accountId: string;
  connectionId: string;
  sourceId: string;
  createdAt: number;
  updatedAt: number;
} & { [N in keyof F as F[N]['use'] extends 'copied' | 'added' ? never : N]: KeptOf<F[N]> };

/** The result of `derive`: missing fields are type errors. */
type Derived<F extends Fields> = {
  [N in keyof F as F[N]['use'] extends 'derived' | 'derivable' | 'internal' ? N : never]: KeptOf<
    F[N]
  >;
};

type InOf<F> = F extends Field<infer In> ? In : never;
type KeptOf<F> = F extends Field<unknown, infer Kept> ? Kept : never;
type AcceptedOf<F> = undefined extends InOf<F> ? KeptOf<F> | null | undefined : KeptOf<F>;

type OptionalWhereUndefined<T> = { [N in keyof T as undefined extends T[N] ? never : N]: T[N] } & {
  [N in keyof T as undefined extends T[N] ? N : never]?: T[N];
};
