import { and, eq, exists, gt, inArray, isNotNull, notExists, notInArray, sql } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { seal } from '../../core/platform/crypto.ts';
import {
  type Database,
  excluded,
  jsonList,
  refuseUnless,
} from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { hourMs } from '../../core/platform/durations.ts';
import { invalid } from '../../core/platform/errors.ts';
import { isAdmin } from '../../people/people.ts';
import { portalUsers, sessions } from '../../people/tables.ts';
import { proof } from './domain-checks.ts';
import { mustUseProvider, provenByOthers, type SingleSignOn } from './single-sign-on.ts';
import { auditedSettings, signInDomains, singleSignOn } from './tables.ts';

/** How long a session lasts until the provider must confirm the person again. */
export const providerSessionMs = 12 * hourMs;

/** An empty secret is the one of before. DNS has `proven` domains name the account; without domains all is removed. */
type SingleSignOnInput = SingleSignOn & {
  secret: string;
  domains: string[];
  proven: string[];
};

/** Sets how people sign in. @throws Refusal: invalid */
export async function saveSingleSignOn(
  env: Env,
  caller: Caller,
  input: SingleSignOnInput,
): Promise<void> {
  const { accountId } = caller;
  const { issuer, clientId, secret, role, linkUserId, domains, proven } = input;
  const sealed = secret ? await seal(env, accountId, { secret }) : undefined;
  const ours = {
    people: eq(portalUsers.accountId, accountId),
    domains: eq(signInDomains.accountId, accountId),
  };
  const now = Date.now();
  const latest = now + providerSessionMs;
  const provenAt = (db: Database, domain: string) =>
    proven.includes(domain)
      ? sql<number>`iif(${exists(provenByOthers(db, accountId, [domain]))}, null, ${now})`
      : null;
  await asCaller(env, caller, (db) => {
    const before = db
      .select({ secret: singleSignOn.secret })
      .from(singleSignOn)
      .where(
        and(
          eq(singleSignOn.accountId, accountId),
          eq(singleSignOn.issuer, issuer),
          eq(singleSignOn.clientId, clientId),
        ),
      );
    const admin = db
      .select({ id: portalUsers.id })
      .from(portalUsers)
      .where(and(eq(portalUsers.id, linkUserId), ours.people, isAdmin));
    const settings = { issuer, clientId, secret: sealed ?? sql`${before}`, role, linkUserId };
    return [
      // Otherwise whoever changes the issuer would be sent the secret of the former one.
      sealed ? undefined : refuseUnless(db, exists(before), refused('secret', 'is required')),
      refuseUnless(db, exists(admin), refused('linkUserId', 'must be an admin who has signed in')),
      // Another provider, or client, calls people by other names.
      db
        .update(portalUsers)
        .set({ subject: null })
        .where(and(ours.people, isNotNull(portalUsers.subject), notExists(before))),
      db
        .insert(singleSignOn)
        .values({ accountId, ...settings })
        .onConflictDoUpdate({ target: singleSignOn.accountId, set: settings }),
      db
        .delete(signInDomains)
        .where(and(ours.domains, notInArray(signInDomains.domain, jsonList(domains)))),
      domains.length === 0
        ? undefined
        : db
            .insert(signInDomains)
            .values(
              domains.map((domain) => ({
                accountId,
                domain,
                provenAt: provenAt(db, domain),
                checkedAt: now,
              })),
            )
            .onConflictDoUpdate({
              target: [signInDomains.accountId, signInDomains.domain],
              set: {
                // Saving is a check, too: otherwise it would put off the job's for ever.
                provenAt: sql`coalesce(
                  ${excluded(signInDomains.provenAt)},
                  iif(${signInDomains.provenAt} > ${now - proof.expiresMs}, ${signInDomains.provenAt}, null))`,
                checkedAt: now,
              },
            }),
      audit(
        db,
        caller,
        domains.length > 0 ? 'changed' : 'deleted',
        auditedSettings,
        sql`true`,
        domains,
      ),
      domains.length > 0
        ? undefined
        : db.delete(singleSignOn).where(eq(singleSignOn.accountId, accountId)),
      db
        .update(sessions)
        .set({ expiresAt: latest })
        .where(
          and(
            gt(sessions.expiresAt, latest),
            inArray(
              sessions.userId,
              db
                .select({ id: portalUsers.id })
                .from(portalUsers)
                .where(and(ours.people, mustUseProvider(db))),
            ),
          ),
        ),
    ];
  });
}

const refused = (field: string, message: string) =>
  invalid(`${field} ${message}`, [{ field, message }]).failure;

/** Ends that people must use their provider, until an admin saves its settings again. @throws Refusal: invalid */
export async function turnOffSingleSignOn(
  env: Env,
  caller: Caller,
): Promise<{ domains: string[] }> {
  const { off } = await asCaller(env, caller, (db) => {
    const proven = and(
      eq(signInDomains.accountId, caller.accountId),
      isNotNull(signInDomains.provenAt),
    );
    const isOn = exists(
      db.select({ domain: signInDomains.domain }).from(signInDomains).where(proven),
    );
    return {
      audited: audit(db, caller, 'changed', auditedSettings, isOn, ['off']),
      off: db
        .update(signInDomains)
        .set({ provenAt: null })
        .where(proven)
        .returning({ domain: signInDomains.domain }),
    };
  });
  if (off.length === 0) throw invalid('Nobody of this account must sign in by a provider');
  return { domains: off.map(({ domain }) => domain).sort() };
}
