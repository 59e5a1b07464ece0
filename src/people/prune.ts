import { dayMs, hourMs } from '../core/platform/durations.ts';
import { deleteUpTo, pruning } from '../core/platform/jobs/chunks.ts';
import { invitations, sentForms, sessions, signInLinks } from './tables.ts';

/** Deletes expired links and sessions, forms that were sent an hour ago, and what was noted of a day's invitations. */
export const pruneSessions = pruning((db, now) => [
  deleteUpTo(db, signInLinks.expiresAt, now),
  deleteUpTo(db, sessions.expiresAt, now),
  deleteUpTo(db, sentForms.at, now - hourMs),
  deleteUpTo(db, invitations.sentAt, now - dayMs),
]);
