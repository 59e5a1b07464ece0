import * as v from 'valibot';
import { alternatives } from '../fleet/lists/field-types.ts';
import { type Kind, type RecordKindOf, recordKinds } from '../fleet/lists/registry.ts';
import { Uuid, Whole } from '../platform/fields.ts';

export type RecordOf<K extends Kind> = v.InferOutput<RecordKindOf<K>['record']>;

export type RowOf<K extends Kind> = ReturnType<RecordKindOf<K>['toRow']>;

type Variant = v.ObjectSchema<{ kind: v.LiteralSchema<Kind, undefined> }, undefined>;

export const mustBeKind = `must be ${alternatives(recordKinds.map(({ kind }) => kind))}`;

export const IngestRecord = v.variant(
  'kind',
  recordKinds.map(({ record }) => record as unknown as Variant), // every kind's schema is one of an object with `kind`
  mustBeKind,
) as unknown as v.GenericSchema<v.InferInput<RecordKindOf<Kind>['record']>, RecordOf<Kind>>; // of these very kinds
export type IngestRecord = RecordOf<Kind>;

/** An accepted record, and its index in the call. */
export type Accepted = { index: number; record: IngestRecord };

/** The body of `POST /ingest`. Its records are validated one by one: one may be refused. */
export const IngestBody = v.object({
  records: v.pipe(
    v.array(v.unknown()),
    v.minLength(1, 'must have at least one item'),
    v.maxLength(500, 'can have at most 500 items'),
  ),
  notify: v.optional(v.boolean(), true),
  dryRun: v.optional(v.boolean(), false),
});

/** A refused record: its index in the call, its sourceId if it has one, and why. */
export const Rejection = v.object({
  index: Whole,
  sourceId: v.nullable(v.string()),
  message: v.string(),
});
export type Rejection = v.InferOutput<typeof Rejection>;

/** What something wrong leads to, the worst first. */
export const severities = ['lost', 'doubtful', 'dropped', 'corrected', 'ignored'] as const;

/** What was wrong with a field, which may be a path; no value is quoted. With an unknown one, those `known` there. */
export type FieldIssue = {
  field: string;
  message: string;
  severity: (typeof severities)[number];
  known?: string[];
};

/** What was wrong with an accepted record, perhaps because of another one. */
export type RecordWarning = FieldIssue & { index: number; otherIndex?: number };

/** Something wrong with accepted records: in how many, and in which first. */
export const Warning = v.object({
  field: v.string(),
  message: v.string(),
  records: Whole,
  index: Whole,
  otherIndex: v.optional(Whole),
});
export type Warning = v.InferOutput<typeof Warning>;

/** The webhooks that a record would notify, in a dry run: the first ones, and how many `more`. */
export const WouldNotify = v.object({
  index: Whole,
  notificationLevel: v.optional(Whole),
  webhooks: v.array(v.object({ id: Uuid, name: v.nullable(v.string()) })),
  more: v.optional(Whole),
});
export type WouldNotify = v.InferOutput<typeof WouldNotify>;

/** The result of a call. `heldBack` events are too old for notifications. */
export const IngestOutcome = v.object({
  accepted: Whole,
  unchanged: Whole,
  rejected: v.array(Rejection),
  heldBack: v.optional(Whole),
  warnings: v.optional(v.array(Warning)),
  moreWarnings: v.optional(Whole),
  wouldNotify: v.optional(v.array(WouldNotify)),
});
export type IngestOutcome = v.InferOutput<typeof IngestOutcome>;
