import * as v from 'valibot';
import { auditLog } from '../../platform/db/schema/accounts.ts';
import { described, id, time } from '../../platform/replies.ts';

const { actor, action, subject } = auditLog;

export type Action = (typeof auditLog.$inferSelect)['action'];
export type Subject = (typeof auditLog.$inferSelect)['subject'];

/** An entry of the audit log, with names as they were then. */
export const AuditEntry = v.object({
  at: time,
  accountId: id,
  account: described(v.optional(v.nullable(v.string())), 'Its name, in the log of all accounts.'),
  actor: v.picklist(actor.enumValues),
  actorId: v.nullable(id),
  actorName: v.nullable(v.string()),
  action: v.picklist(action.enumValues),
  subject: v.picklist(subject.enumValues),
  subjectId: id,
  subjectName: v.nullable(v.string()),
  fields: described(
    v.array(v.string()),
    'The fields that were changed; of a person, `role: ` and the new role.',
  ),
});
export type AuditEntry = v.InferInput<typeof AuditEntry>;
