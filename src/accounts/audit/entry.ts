import * as v from 'valibot';
import { described, id, time } from '../../platform/replies.ts';

const actions = [
  'created',
  'changed',
  'suspended',
  'activated',
  'revoked',
  'invited',
  'scheduled for deletion',
  'deleted',
  'erased',
] as const;
export type Action = (typeof actions)[number];

const subjects = [
  'account',
  'connection',
  'API token',
  'ingest key',
  'webhook',
  'team channel',
  'connect link',
  'single sign-on',
  'person',
  'driver',
] as const;
export type Subject = (typeof subjects)[number];

/** An entry of the audit log, with names as they were then. */
export const AuditEntry = v.object({
  at: time,
  accountId: id,
  account: described(v.optional(v.nullable(v.string())), 'Its name, in the log of all accounts.'),
  actor: v.picklist(['operator', 'person', 'token', 'service']),
  actorId: v.nullable(id),
  actorName: v.nullable(v.string()),
  action: v.picklist(actions),
  subject: v.picklist(subjects),
  subjectId: id,
  subjectName: v.nullable(v.string()),
  fields: described(
    v.array(v.string()),
    'The fields that were changed; of a person, `role: ` and the new role.',
  ),
});
export type AuditEntry = v.InferInput<typeof AuditEntry>;
