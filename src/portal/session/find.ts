import { and, eq, gt, sql } from 'drizzle-orm';
import type { PortalUser } from '../../accounts/people.ts';
import { hashToken } from '../../accounts/tokens/format.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { accounts, portalUsers, sessions } from '../../platform/db/tables.ts';
import { type Attention, attentionOf } from './attention.ts';
import { versionOf, type Watched } from './version.ts';

/**
 * A session: whose it is, the account's name, what it has to look at, and the hash of the session's secret. `version` is
 * that of what its page watches, from before the page is read.
 */
export type Session = {
  user: PortalUser;
  account: string;
  attention: Attention;
  version: string;
  hash: string;
};

/**
 * The session that `secret` opens; undefined if there is none, or its account is suspended. What the menu counts comes
 * with it, so that no page asks for it. `watched` is what its page watches; without it that is the account.
 */
export async function findSession(env: Env, secret: string, watched?: Watched): Promise<Session | undefined> {
  const hash = await hashToken(secret);
  const now = Date.now();
  const [found] = await openDatabase(env)
    .select({
      user: portalUsers,
      account: accounts.name,
      attention: attentionOf(accounts.id, now),
      version: sql<string | number | null>`${versionOf(watched ?? { of: 'account', id: accounts.id }, now)}`,
    })
    .from(sessions)
    .innerJoin(portalUsers, eq(portalUsers.id, sessions.userId))
    .innerJoin(accounts, and(eq(accounts.id, portalUsers.accountId), eq(accounts.status, 'active')))
    .where(and(eq(sessions.hash, hash), gt(sessions.expiresAt, now)));
  return found && { ...found, version: String(found.version ?? ''), hash };
}
