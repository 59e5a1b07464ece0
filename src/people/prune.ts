import { hourMs } from '../core/platform/durations.ts';
import { deleteUpTo, pruning } from '../core/platform/jobs/chunks.ts';
import { sentForms, sessions, signInLinks } from './tables.ts';

/** Deletes expired links and sessions, and forms that were sent an hour ago. */
export const pruneSessions = pruning((db, now) => [
  deleteUpTo(db, signInLinks.expiresAt, now),
  deleteUpTo(db, sessions.expiresAt, now),
  deleteUpTo(db, sentForms.at, now - hourMs),
]);
