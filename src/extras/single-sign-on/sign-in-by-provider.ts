import { and, eq, exists, type SQL, sql } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { hashToken } from '../../core/accounts/tokens/format.ts';
import { refuseUnless, transaction } from '../../core/platform/db/database.ts';
import { refuseUnlessActive } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { removedHash } from '../../people/people.ts';
import { newSecret } from '../../people/secrets.ts';
import { useOnce } from '../../people/sent-forms.ts';
import { addSession } from '../../people/sessions.ts';
import { auditedPerson, portalUsers } from '../../people/tables.ts';
import { providerSessionMs } from './save.ts';
import { domainOf, isProven, maxNewcomers } from './single-sign-on.ts';
import { signInDomains } from './tables.ts';

export const startAgain =
  'This sign-in was used, has expired, or began in another browser. Start again.';

/** Who signs in: the address and subject that the provider confirmed, and by which attempt. */
export type Confirmed = { email: string; subject: string; attempt: string };

/**
 * Starts a session of the person whom the account's provider has confirmed, once for each attempt. Returns its secret.
 * @throws Refusal: invalid, if the domain is not proven, nobody has invited them, or somebody else had the address
 * before; unavailable
 */
export async function signInByProvider(
  env: Env,
  accountId: string,
  { email, subject, attempt }: Confirmed,
): Promise<string> {
  const secret = await newSecret(env, 'session');
  const now = Date.now();
  const db = openDatabase(env);
  const service = { service: true as const, accountId };
  const person = and(eq(portalUsers.email, email), eq(portalUsers.accountId, accountId));
  const known = await hashToken(subject);
  const [session, removed] = [await hashToken(secret), await removedHash(accountId, email)];
  const people = (which: SQL | undefined) =>
    db.select({ id: portalUsers.id }).from(portalUsers).where(which);
  await transaction(db, [
    refuseUnlessActive(db, sql`${accountId}`),
    useOnce(db, accountId, attempt, startAgain),
    refuseUnless(
      db,
      exists(
        db
          .select({ domain: signInDomains.domain })
          .from(signInDomains)
          .where(and(eq(signInDomains.accountId, accountId), isProven(domainOf(email)))),
      ),
      `The provider confirmed ${email}, but ${domainOf(email)} is not a proven domain of this account.`,
    ),
    // The builder's insert of a query names all columns, also those with a default.
    db.run(sql`
      insert into portal_users (id, account_id, email, created_at, role)
      select ${newId()}, account_id, ${email}, ${now}, role
      from single_sign_on
      where account_id = ${accountId} and role is not null
        and not exists ${people(person)}
        and not exists (
          select 1 from removed_people where account_id = ${accountId} and hash = ${removed})
        and ${db.$count(portalUsers, eq(portalUsers.accountId, accountId))} < ${maxNewcomers}`),
    audit(db, service, 'created', auditedPerson, and(person, sql`changes() > 0`)),
    refuseUnless(
      db,
      exists(people(person)),
      `Nobody has invited ${email} to this account. Ask one of its admins.`,
    ),
    refuseUnless(
      db,
      exists(people(and(person, sql`coalesce(${portalUsers.subject}, ${known}) = ${known}`))),
      `The provider knew somebody else by ${email} before. Ask an admin to invite you again, who accepts you so.`,
    ),
    db
      .update(portalUsers)
      .set({
        lastSignInAt: now,
        confirmedAt: sql`coalesce(${portalUsers.confirmedAt}, ${now})`,
        subject: known,
      })
      .where(person),
    addSession(db, { hash: session, expiresAt: now + providerSessionMs }, person),
  ]);
  return secret;
}
