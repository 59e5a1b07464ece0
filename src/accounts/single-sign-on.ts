import { type SQL, sql } from 'drizzle-orm';
import { type Sealed, seal, unseal } from '../platform/crypto.ts';
import {
  jsonList,
  read,
  refuseUnless,
  transaction,
  write,
  writeReturning,
} from '../platform/db/database.ts';
import {
  asCaller,
  type Caller,
  ofActiveAccount,
  refuseUnlessActive,
} from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { useOnce } from '../platform/db/sent-forms.ts';
import { openDatabase } from '../platform/db/system.ts';
import { dayMs, hourMs } from '../platform/durations.ts';
import { invalid } from '../platform/errors.ts';
import type { Role } from '../platform/roles.ts';
import { audit } from './audit/write.ts';
import { newSecret } from './secrets.ts';
import { hashToken } from './tokens/format.ts';

export const maxDomains = 10;

/** How long a session lasts until the provider must confirm the person again. */
export const providerSessionMs = 12 * hourMs;

/** How many people an account can have before its provider adds no more. */
export const maxNewcomers = 1000;

/** How an account's people sign in by its provider. */
export type SingleSignOn = {
  issuer: string;
  clientId: string;
  /** The role of people whom nobody has invited; null: they are refused. */
  role: Role | null;
  /** The admin who can always sign in by an emailed link. */
  linkUserId: string;
};

/** What the account has set, its domains, and the admins who can be chosen for links. */
export async function findSingleSignOn(env: Env, caller: Caller) {
  const ours = sql`account_id = ${caller.accountId}`;
  return asCaller(env, caller, (db) => ({
    found: read<SingleSignOn>(db)`
      select issuer, client_id as clientId, role, link_user_id as linkUserId from single_sign_on where ${ours}`,
    domains: read<{ domain: string; provenAt: number | null; checkedAt: number }>(db)`
      select domain, proven_at as provenAt, checked_at as checkedAt from sign_in_domains where ${ours} order by domain`,
    admins: read<{ id: string; email: string }>(db)`
      select id, email from portal_users where ${ours} and ${isAdmin} order by created_at, id limit 100`,
  }));
}

const isAdmin = sql`role = 'admin' and confirmed_at is not null`;

/** An empty secret is the one of before. DNS has `proven` domains name the account; without domains all is removed. */
export type SingleSignOnInput = SingleSignOn & {
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
  const sealed = secret && JSON.stringify(await seal(env, accountId, { secret }));
  const ours = sql`account_id = ${accountId}`;
  const before = sql`(select secret from single_sign_on
    where ${ours} and issuer = ${issuer} and client_id = ${clientId})`;
  const now = Date.now();
  const latest = now + providerSessionMs;
  await asCaller(env, caller, (db) => [
    // Otherwise whoever changes the issuer would be sent the secret of the former one.
    refuseUnless(
      db,
      sql`${sealed} <> '' or ${before} is not null`,
      refused('secret', 'is required'),
    ),
    refuseUnless(
      db,
      sql`exists (select 1 from portal_users where id = ${linkUserId} and ${ours} and ${isAdmin})`,
      refused('linkUserId', 'must be an admin who has signed in'),
    ),
    // Another provider, or client, calls people by other names.
    write(db)`
      update portal_users set subject = null where ${ours} and subject is not null and ${before} is null`,
    write(db)`
      insert into single_sign_on (account_id, issuer, client_id, secret, role, link_user_id)
      values (${accountId}, ${issuer}, ${clientId}, iif(${sealed} = '', ${before}, ${sealed}), ${role}, ${linkUserId})
      on conflict (account_id) do update set issuer = excluded.issuer, client_id = excluded.client_id,
        secret = excluded.secret, role = excluded.role, link_user_id = excluded.link_user_id`,
    write(db)`delete from sign_in_domains where ${ours} and domain not in ${jsonList(domains)}`,
    write(db)`
      insert into sign_in_domains (account_id, domain, proven_at, checked_at)
      select ${accountId}, value, iif(value in ${jsonList(proven)} and value not in (
        select domain from sign_in_domains where proven_at is not null and not ${ours}), ${now}, null), ${now}
      from json_each(${JSON.stringify(domains)}) where true
      on conflict do update set proven_at = coalesce(excluded.proven_at, proven_at), checked_at = ${now}`,
    audit(
      db,
      caller,
      domains.length > 0 ? 'changed' : 'deleted',
      'single_sign_on',
      sql`true`,
      domains,
    ),
    domains.length > 0 ? undefined : write(db)`delete from single_sign_on where ${ours}`,
    write(db)`
      update sessions set expires_at = ${latest} where expires_at > ${latest} and user_id in (
        select u.id from portal_users u where ${ours} and ${mustUseProvider(sql`u`)})`,
  ]);
}

const refused = (field: string, message: string) =>
  invalid(`${field} ${message}`, [{ field, message }]).failure;

/** SQL for whether a person must sign in by the provider of their account. */
export const mustUseProvider = (user: SQL) => sql`exists (
  select 1 from sign_in_domains d join single_sign_on s on s.account_id = d.account_id
  where d.account_id = ${user}.account_id and d.domain = substr(${user}.email, instr(${user}.email, '@') + 1)
    and d.proven_at is not null and s.link_user_id <> ${user}.id)`;

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
  { accountId = '', email = '' }: { accountId?: string; email?: string },
): Promise<Provider | undefined> {
  const [found] = await read<Provider>(openDatabase(env))`
    select s.account_id as accountId, a.name as account, issuer, client_id as clientId, secret
    from single_sign_on s join accounts a on a.id = s.account_id and a.status <> 'moved'
    where s.account_id in (select ${accountId} union all
      select account_id from sign_in_domains where domain = ${domainOf(email)} and proven_at is not null)`;
  if (!found) return undefined;
  const sealed: Sealed = JSON.parse(found.secret);
  const { secret = '' } = await unseal(env, found.accountId, sealed);
  return { ...found, secret };
}

export const domainOf = (email: string): string => email.slice(email.indexOf('@') + 1);

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
  const person = sql`email = ${email} and account_id = ${accountId}`;
  const domain = sql`account_id = ${accountId} and domain = ${domainOf(email)} and proven_at is not null`;
  const known = await hashToken(subject);
  await transaction(db, [
    refuseUnlessActive(db, sql`${accountId}`),
    useOnce(db, accountId, attempt, startAgain),
    refuseUnless(
      db,
      sql`exists (select 1 from sign_in_domains where ${domain})`,
      `The provider confirmed ${email}, but ${domainOf(email)} is not a proven domain of this account.`,
    ),
    write(db)`
      insert into portal_users (id, account_id, email, created_at, role)
      select ${newId()}, account_id, ${email}, ${now}, role from single_sign_on
      where account_id = ${accountId} and role is not null
        and not exists (select 1 from portal_users where ${person})
        and not exists (select 1 from removed_people
          where account_id = ${accountId} and hash = ${await removedHash(accountId, email)})
        and (select count(*) from portal_users where account_id = ${accountId}) < ${maxNewcomers}`,
    audit(db, service, 'created', 'portal_users', sql`${person} and changes() > 0`),
    refuseUnless(
      db,
      sql`exists (select 1 from portal_users where ${person})`,
      `Nobody has invited ${email} to this account. Ask one of its admins.`,
    ),
    refuseUnless(
      db,
      sql`exists (select 1 from portal_users where ${person} and coalesce(subject, ${known}) = ${known})`,
      `The provider knew somebody else by ${email} before. Ask an admin to invite you again, who accepts you so.`,
    ),
    write(db)`
      update portal_users set last_sign_in_at = ${now}, confirmed_at = coalesce(confirmed_at, ${now}),
        subject = ${known}
      where ${person}`,
    write(db)`
      insert into sessions (hash, user_id, expires_at)
      select ${await hashToken(secret)}, id, ${now + providerSessionMs} from portal_users where ${person}`,
  ]);
  return secret;
}

/** By which somebody who was removed is known. */
export const removedHash = (accountId: string, email: string): Promise<string> =>
  hashToken(`${accountId} ${email}`);

/** Ends that people must use their provider, until an admin saves its settings again. @throws Refusal: invalid */
export async function turnOffSingleSignOn(
  env: Env,
  caller: Caller,
): Promise<{ domains: string[] }> {
  const { off } = await asCaller(env, caller, (db) => ({
    audited: audit(db, caller, 'changed', 'single_sign_on', sql`true`, ['off']),
    off: writeReturning<{ domain: string }>(db)`
      update sign_in_domains set proven_at = null
      where account_id = ${caller.accountId} and proven_at is not null returning domain`,
  }));
  if (off.length === 0) throw invalid('Nobody of this account must sign in by a provider');
  return { domains: off.map(({ domain }) => domain).sort() };
}

/** The domains that an account has proven. */
export const provenDomains = async (env: Env, accountId: string): Promise<string[]> =>
  (
    await read<{ domain: string }>(openDatabase(env))`
      select domain from sign_in_domains where account_id = ${accountId} and proven_at is not null`
  ).map(({ domain }) => domain);

/** One of these domains that another account has proven. */
export async function takenDomain(
  env: Env,
  accountId: string,
  domains: string[],
): Promise<string | undefined> {
  const [taken] = await read<{ domain: string }>(openDatabase(env))`
    select domain from sign_in_domains
    where domain in ${jsonList(domains)} and proven_at is not null and account_id <> ${accountId}`;
  return taken?.domain;
}

/** How long after DNS last named the account a domain is checked again, then how often, and when it expires. */
export const proof = { checkedAfterMs: 7 * dayMs, repeatedMs: dayMs, expiresMs: 14 * dayMs };

/** A domain whose proof is checked again. */
export type DueDomain = { accountId: string; domain: string; provenAt: number };

/** Proven domains whose DNS is to be asked again. */
export const domainsToCheck = (env: Env, now: number, limit: number): Promise<DueDomain[]> =>
  read<DueDomain>(openDatabase(env))`
    select account_id as accountId, domain, proven_at as provenAt
    from sign_in_domains indexed by sign_in_domains_due
    where proven_at <= ${now - proof.checkedAfterMs} and checked_at <= ${now - proof.repeatedMs}
      and ${ofActiveAccount(sql`sign_in_domains.account_id`)}
    limit ${limit}`;

/** Until when a domain counts as proven: DNS that does not respond is no other than DNS without the record. */
export const provenAfter = (provenAt: number, isFound: boolean, now: number): number | null =>
  isFound ? now : now - provenAt >= proof.expiresMs ? null : provenAt;

/** Records what DNS says of domains. */
export async function noteChecks(
  env: Env,
  checks: (DueDomain & { isFound: boolean })[],
  now: number,
): Promise<void> {
  if (checks.length === 0) return;
  const db = openDatabase(env);
  const statements = checks.flatMap(({ accountId, domain, provenAt, isFound }) => {
    const service = { service: true as const, accountId };
    const next = provenAfter(provenAt, isFound, now);
    const which = sql`account_id = ${accountId} and domain = ${domain} and proven_at = ${provenAt}
      and ${ofActiveAccount(sql`${accountId}`)}`;
    return [
      next === null
        ? audit(
            db,
            service,
            'changed',
            'single_sign_on',
            sql`exists (select 1 from sign_in_domains where ${which})`,
            [`no longer proven: ${domain}`],
          )
        : undefined,
      write(db)`update sign_in_domains set proven_at = ${next}, checked_at = ${now} where ${which}`,
    ];
  });
  await transaction(db, statements);
}
