import { dayMs, hourMs } from '../platform/durations.ts';
import { deleteUpTo, pruning } from '../platform/jobs/chunks.ts';

/** How many days a credential's row is kept after it was revoked or expired. */
export const deadTokenDays = 90;

/** Deletes expired links and sessions, old forms, and credentials that ended 90 days ago. */
export const pruneCredentials = pruning((now) => {
  const before = now - deadTokenDays * dayMs;
  const expired = { key: ['hash'], time: 'expires_at' };
  const form = { table: 'sent_forms', key: ['account_id', 'id'] };
  return [
    deleteUpTo(now, { ...expired, table: 'sign_in_links', index: 'sign_in_links_by_expiry' }),
    deleteUpTo(now, { ...expired, table: 'sessions', index: 'sessions_by_expiry' }),
    deleteUpTo(now - hourMs, { ...form, time: 'at', index: 'sent_forms_by_age' }),
    deleteUpTo(before, {
      table: 'tokens',
      key: ['id'],
      time: 'revoked_at',
      index: 'tokens_by_revocation',
    }),
    deleteUpTo(before, {
      table: 'tokens',
      key: ['id'],
      time: 'expires_at',
      index: 'tokens_by_expiry',
    }),
  ];
});
