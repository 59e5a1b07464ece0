import { and, eq, exists, inArray, isNotNull, ne, notExists, sql } from 'drizzle-orm';
import { unseal } from '../../core/platform/crypto.ts';
import {
  type Database,
  jsonList,
  refuseUnless,
  transaction,
} from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { isAdmin, needsAdmin } from '../../people/people.ts';
import { portalUsers } from '../../people/tables.ts';
import { signInDomains, singleSignOn } from './tables.ts';

export const maxDomains = 10;

/** How many people an account can have before its provider adds no more. */
export const maxNewcomers = 1000;

/**
 * How an account's people sign in by its provider. `role` is that of people whom nobody has invited, or null: they are
 * refused. `linkUserId` is the admin who can always sign in by an emailed link.
 */
export type SingleSignOn = Omit<typeof singleSignOn.$inferSelect, 'accountId' | 'secret'>;

/** What the account has set, its domains, and the admins who can be chosen for links. */
export async function findSingleSignOn(env: Env, caller: Caller) {
  const { accountId } = caller;
  return asCaller(env, caller, (db) => ({
    found: db
      .select({
        issuer: singleSignOn.issuer,
        clientId: singleSignOn.clientId,
        role: singleSignOn.role,
        linkUserId: singleSignOn.linkUserId,
      })
      .from(singleSignOn)
      .where(eq(singleSignOn.accountId, accountId)),
    domains: db
      .select({
        domain: signInDomains.domain,
        provenAt: signInDomains.provenAt,
        checkedAt: signInDomains.checkedAt,
      })
      .from(signInDomains)
      .where(eq(signInDomains.accountId, accountId))
      .orderBy(signInDomains.domain),
    admins: db
      .select({ id: portalUsers.id, email: portalUsers.email })
      .from(portalUsers)
      .where(and(eq(portalUsers.accountId, accountId), isAdmin))
      .orderBy(portalUsers.createdAt, portalUsers.id)
      .limit(100),
  }));
}

/** Whether a row of `portal_users` is a person who must sign in by the provider of their account. */
export const mustUseProvider = (db: Database) =>
  exists(
    db
      .select({ domain: signInDomains.domain })
      .from(signInDomains)
      .innerJoin(singleSignOn, eq(singleSignOn.accountId, signInDomains.accountId))
      .where(
        and(
          eq(signInDomains.accountId, portalUsers.accountId),
          sql`${signInDomains.domain} = substr(${portalUsers.email}, instr(${portalUsers.email}, '@') + 1)`,
          isNotNull(signInDomains.provenAt),
          ne(singleSignOn.linkUserId, portalUsers.id),
        ),
      ),
  );

/** The provider of an account, which has this name, with its secret. */
export type Provider = {
  accountId: string;
  account: string;
  issuer: string;
  clientId: string;
  secret: string;
};

/** The provider of an account, or the one by which an address signs in, if its domain is proven. */
export async function findProvider(
  env: Env,
  by: { accountId: string } | { email: string },
): Promise<Provider | undefined> {
  const db = openDatabase(env);
  const accountId =
    'accountId' in by
      ? by.accountId
      : db
          .select({ accountId: signInDomains.accountId })
          .from(signInDomains)
          .where(isProven(domainOf(by.email)));
  const [found] = await transaction(
    db,
    db
      .select({
        accountId: singleSignOn.accountId,
        account: accounts.name,
        issuer: singleSignOn.issuer,
        clientId: singleSignOn.clientId,
        secret: singleSignOn.secret,
      })
      .from(singleSignOn)
      .innerJoin(
        accounts,
        and(eq(accounts.id, singleSignOn.accountId), ne(accounts.status, 'moved')),
      )
      .where(eq(singleSignOn.accountId, accountId)),
  );
  if (!found) return undefined;
  const { secret = '' } = await unseal(env, found.accountId, found.secret);
  return { ...found, secret };
}

export const isProven = (domain: string) =>
  and(eq(signInDomains.domain, domain), isNotNull(signInDomains.provenAt));

export const domainOf = (email: string): string => email.slice(email.indexOf('@') + 1);

/**
 * Refuses to change the one who can always use a link. Operators may, unless others must use the provider, which may
 * have failed.
 */
export const unlessOnlyByLink = (db: Database, caller: Caller, userId: string) => {
  const { accountId } = caller;
  if (!('operator' in caller)) {
    const byLink = db
      .select({ id: singleSignOn.linkUserId })
      .from(singleSignOn)
      .where(and(eq(singleSignOn.accountId, accountId), eq(singleSignOn.linkUserId, userId)));
    return refuseUnless(db, notExists(byLink), needsAdmin);
  }
  const onlyByLink = db
    .select({ id: singleSignOn.linkUserId })
    .from(singleSignOn)
    .innerJoin(signInDomains, eq(signInDomains.accountId, singleSignOn.accountId))
    .where(
      and(
        eq(singleSignOn.accountId, accountId),
        eq(singleSignOn.linkUserId, userId),
        isNotNull(signInDomains.provenAt),
      ),
    );
  return refuseUnless(
    db,
    notExists(onlyByLink),
    'Nobody else of this account can sign in by a link. Turn its single sign-on off first, or have another chosen.',
  );
};

/** The domains that an account has proven. */
export async function provenDomains(env: Env, accountId: string): Promise<string[]> {
  const db = openDatabase(env);
  const found = await transaction(
    db,
    db
      .select({ domain: signInDomains.domain })
      .from(signInDomains)
      .where(and(eq(signInDomains.accountId, accountId), isNotNull(signInDomains.provenAt))),
  );
  return found.map(({ domain }) => domain);
}

/** One of these domains that another account has proven. */
export async function takenDomain(
  env: Env,
  accountId: string,
  domains: string[],
): Promise<string | undefined> {
  const db = openDatabase(env);
  const [taken] = await transaction(db, provenByOthers(db, accountId, domains));
  return taken?.domain;
}

/** The statement that finds those of these domains that other accounts have proven. */
export const provenByOthers = (db: Database, accountId: string, domains: string[]) =>
  db
    .select({ domain: signInDomains.domain })
    .from(signInDomains)
    .where(
      and(
        inArray(signInDomains.domain, jsonList(domains)),
        isNotNull(signInDomains.provenAt),
        ne(signInDomains.accountId, accountId),
      ),
    );
