import * as v from 'valibot';
import { evidenceKinds } from '../../core/fleet/lists/field-objects.ts';
import { count, described } from '../replies.ts';

/** For how many days an account keeps evidence; null for none. */
export const EvidenceDays = v.nullable(
  v.pipe(
    v.number(),
    v.check(
      (days) => Number.isInteger(days) && days >= 30 && days <= 3650,
      'must be a whole number from 30 to 3650',
    ),
    v.metadata({ type: 'integer', minimum: 30, maximum: 3650 }),
  ),
);

/** What operators change of an account, and what they see of it. */
export const evidenceChange = {
  evidenceDays: described(
    v.optional(EvidenceDays),
    'For how many days it keeps videos, photos and reports of accidents, which its fleets must have agreed to. With ' +
      'null it keeps none, and what is stored is deleted.',
  ),
};
export const evidenceOfAccount = {
  evidenceDays: described(
    v.nullable(count),
    'For how many days it keeps the evidence of accidents, if it does.',
  ),
};

const Time = v.pipe(v.string(), v.isoTimestamp());

/** A file of an accident as people and programs see it. */
export const Evidence = v.object({
  id: v.pipe(v.string(), v.uuid()),
  kind: v.picklist(evidenceKinds),
  camera: v.nullable(v.string()),
  takenAt: v.nullable(Time),
  state: v.picklist(['waiting', 'stored', 'missed']),
  reason: v.nullable(v.string()),
  contentType: v.nullable(v.string()),
  bytes: v.nullable(v.pipe(v.number(), v.integer())),
  sha256: v.nullable(v.string()),
  storedAt: v.nullable(Time),
  expiresAt: Time,
});
export type EvidenceFile = v.InferOutput<typeof Evidence>;
