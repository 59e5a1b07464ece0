import { dayMs } from '../platform/durations.ts';
import { deleteUpTo, pruning } from '../platform/jobs/chunks.ts';

/** Deletes sign-in links that have expired unused. */
export const pruneSignInLinks = pruning((now) => [
  deleteUpTo(now, {
    table: 'sign_in_links',
    key: 'hash',
    time: 'expires_at',
    index: 'sign_in_links_by_expiry',
  }),
]);

/** Deletes sessions that have expired. */
export const pruneSessions = pruning((now) => [
  deleteUpTo(now, { table: 'sessions', key: 'hash', time: 'expires_at', index: 'sessions_by_expiry' }),
]);

/** How many days the row of a credential is kept after it was revoked or expired, for whoever asks about it. */
export const deadTokenDays = 90;

/**
 * Deletes credentials that were revoked or expired 90 days ago. They are refused as before: an unknown credential and a
 * revoked one get the same reply.
 */
export const pruneTokens = pruning((now) => {
  const before = now - deadTokenDays * dayMs;
  return [
    deleteUpTo(before, { table: 'tokens', key: 'id', time: 'revoked_at', index: 'tokens_by_revocation' }),
    deleteUpTo(before, { table: 'tokens', key: 'id', time: 'expires_at', index: 'tokens_by_expiry' }),
  ];
});
