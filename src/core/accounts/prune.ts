import { tokens } from '../platform/db/schema/accounts.ts';
import { dayMs } from '../platform/durations.ts';
import { deleteUpTo, pruning } from '../platform/jobs/chunks.ts';

/** How many days a credential's row is kept after it was revoked or expired. */
export const deadTokenDays = 90;

/** Deletes credentials that ended 90 days ago. */
export const pruneCredentials = pruning((db, now) => {
  const before = now - deadTokenDays * dayMs;
  return [deleteUpTo(db, tokens.revokedAt, before), deleteUpTo(db, tokens.expiresAt, before)];
});
