import { and, eq, isNotNull, sql } from 'drizzle-orm';
import { audit } from '../core/accounts/audit/write.ts';
import { config, originOf } from '../core/platform/config.ts';
import { checksum, hasChecksum } from '../core/platform/crypto.ts';
import { asCaller, type Caller } from '../core/platform/db/guard.ts';
import { accounts } from '../core/platform/db/schema/accounts.ts';
import { minuteMs } from '../core/platform/durations.ts';
import { isOf } from './people.ts';
import { withCell } from './secrets.ts';
import { portalUsers } from './tables.ts';

/** For how long an operator may look at the portal of an account, from when they ask. */
export const lookMs = 30 * minuteMs;

/** An operator's look at the portal of an account. Nothing is stored of it: its secret says it all, and is signed. */
export type Look = { accountId: string; until: number };

const form = /^look~(?<accountId>[0-9a-f-]{36})~(?<until>\d{13})~(?<sum>.+)$/;

/** Lets an operator look at an account's portal, and audits it with the reason. Returns the address, and whom to email. */
export async function startLook(env: Env, caller: Caller, reason: string, now = Date.now()) {
  const { accountId } = caller;
  const until = now + lookMs;
  const said = `the portal, for ${lookMs / minuteMs} minutes: ${reason}`;
  const { found, admins } = await asCaller(env, caller, (db) => ({
    found: db.select({ name: accounts.name }).from(accounts).where(eq(accounts.id, accountId)),
    admins: db
      .select({ email: portalUsers.email })
      .from(portalUsers)
      .where(
        and(isOf(accountId), eq(portalUsers.role, 'admin'), isNotNull(portalUsers.confirmedAt)),
      )
      .limit(maxEmailed),
    audited: audit(db, caller, 'looked at', 'accounts', accountId, [said]),
  }));
  const claim = claimOf({ accountId, until });
  const secret = `${claim}~${await checksum(config(env).encryptionKeys, 'look', claim)}`;
  const url = `${originOf(env)}/portal/sign-in/link?secret=${withCell(env, secret)}`;
  return { url, until, account: found[0]?.name ?? '', admins: admins.map(({ email }) => email) };
}

/** How many admins are emailed. */
const maxEmailed = 20;

const claimOf = ({ accountId, until }: Look): string => `look~${accountId}~${until}`;

/** The look that a secret allows, unless its time is up. Needs no I/O. */
export async function lookIn(
  env: Env,
  secret: string,
  now = Date.now(),
): Promise<Look | undefined> {
  const { accountId = '', until, sum = '' } = form.exec(secret)?.groups ?? {};
  const look = { accountId, until: Number(until) };
  const isOurs = await hasChecksum(config(env).encryptionKeys, 'look', claimOf(look), sum);
  return isOurs && look.until > now ? look : undefined;
}

/** An operator at the portal, who can change nothing. */
export const callerOfLook = (accountId: string): Caller => ({
  accountId,
  credential: {
    row: () => sql`(select id as account_id, 'viewer' as role from accounts)`,
    refusal: { kind: 'unauthenticated' },
    readOnly: true,
    who: sql`(select null as id, null as name)`,
  },
});
