import { dayMs } from '../platform/durations.ts';
import { deleteUpTo, pruning } from '../platform/jobs/chunks.ts';

/** Deletes expired sign-in links. */
export const pruneSignInLinks = pruning((now) => [
  deleteUpTo(now, {
    table: 'sign_in_links',
    key: 'hash',
    time: 'expires_at',
    index: 'sign_in_links_by_expiry',
  }),
]);

/** Deletes expired sessions. */
export const pruneSessions = pruning((now) => [
  deleteUpTo(now, { table: 'sessions', key: 'hash', time: 'expires_at', index: 'sessions_by_expiry' }),
]);

/** How many days a credential's row is kept after it was revoked or expired. */
export const deadTokenDays = 90;

/**
 * Deletes credentials that were revoked or expired 90 days ago. Unknown and revoked credentials get the same response,
 * so nothing changes for their holders.
 */
export const pruneTokens = pruning((now) => {
  const before = now - deadTokenDays * dayMs;
  return [
    deleteUpTo(before, { table: 'tokens', key: 'id', time: 'revoked_at', index: 'tokens_by_revocation' }),
    deleteUpTo(before, { table: 'tokens', key: 'id', time: 'expires_at', index: 'tokens_by_expiry' }),
  ];
});
