import { sql } from 'drizzle-orm';
import { type Account, refuseIfMoved } from '../accounts/accounts.ts';
import { audit } from '../accounts/audit/write.ts';
import { isSecret, newSecret, secretIn, withCell } from '../accounts/secrets.ts';
import { hashToken } from '../accounts/tokens/format.ts';
import { updateConnection } from '../fleet/connections.ts';
import { originOf } from '../platform/config.ts';
import { seal } from '../platform/crypto.ts';
import {
  type Database,
  read,
  refuseUnless,
  write,
  writeReturning,
} from '../platform/db/database.ts';
import { asCaller, type Caller, refuseInactive, rowsFor } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { openDatabase } from '../platform/db/system.ts';
import { dayMs } from '../platform/durations.ts';
import type { CoveredConnection } from '../webhooks/coverage.ts';
import { changePull, connectProvider, type NewPull } from './connect.ts';

export const connectLinkMs = 7 * dayMs;
export const maxOpenLinks = 20;

const usedLink = 'This link has been used already.';

/** A link as the account's people see it. Times are milliseconds since 1970. */
export type ConnectLink = {
  id: string;
  name: string;
  createdAt: number;
  expiresAt: number;
  /** Null until it is used. */
  connectionId: string | null;
  /** When consent was withdrawn by the link. */
  withdrawnAt: number | null;
};

const columns = sql`l.id, l.name, l.created_at as createdAt, l.expires_at as expiresAt,
  l.connection_id as connectionId, l.withdrawn_at as withdrawnAt`;

/** The account's links that can still be used, then those that were, the newest first; at most 100. */
export async function listLinks(env: Env, caller: Caller): Promise<ConnectLink[]> {
  return rowsFor<ConnectLink>(env, caller)`
    select ${columns} from connect_links l
    where account_id = ${caller.accountId} and (connection_id is not null or expires_at > ${Date.now()})
    order by connection_id is not null, created_at desc, id desc limit 100`;
}

/** Creates a single-use link, valid for a week, whose address is not stored. @throws Refusal: invalid */
export async function createLink(
  env: Env,
  caller: Caller,
  name: string,
): Promise<{ id: string; url: string; expiresAt: number }> {
  const { accountId } = caller;
  const secret = await newSecret(env, 'connect link');
  const [id, hash, now] = [newId(), await hashToken(secret), Date.now()];
  const expiresAt = now + connectLinkMs;
  const open = sql`account_id = ${accountId} and connection_id is null`;
  const url = `${originOf(env)}/portal/connect?secret=${withCell(env, secret)}`; // a path would be logged
  const create = (db: Database) => [
    write(db)`delete from connect_links where ${open} and expires_at <= ${now}`,
    refuseUnless(
      db,
      sql`(select count(*) from connect_links where ${open}) < ${maxOpenLinks}`,
      `An account can have at most ${maxOpenLinks} links that are not used yet. Revoke one first.`,
    ),
    write(db)`
      insert into connect_links (id, account_id, hash, name, created_at, expires_at)
      values (${id}, ${accountId}, ${hash}, ${name}, ${now}, ${expiresAt})`,
    audit(db, caller, 'created', 'connect_links', id),
  ];
  await asCaller(env, caller, create);
  return { id, url, expiresAt };
}

/** Takes an unused link back, and returns it. @throws Refusal: not found, or invalid, if it was used */
export async function revokeLink(
  env: Env,
  caller: Caller,
  id: string,
): Promise<ConnectLink | undefined> {
  const own = sql`l.id = ${id} and l.account_id = ${caller.accountId}`;
  const isOpen = sql`exists (select 1 from connect_links l where ${own} and l.connection_id is null)`;
  const { links } = await asCaller(env, caller, (db) => ({
    known: refuseUnless(db, sql`exists (select 1 from connect_links l where ${own})`, {
      kind: 'not found',
    }),
    unused: refuseUnless(db, isOpen, usedLink),
    links: read<ConnectLink>(db)`select ${columns} from connect_links l where ${own}`,
    audited: audit(db, caller, 'revoked', 'connect_links', id),
    deleted: write(db)`delete from connect_links as l where ${own}`,
  }));
  return links[0];
}

/** What a link's holder may see: whom it connects to, and what was connected by it. */
export type OpenedLink = ConnectLink & {
  account: string;
  evidenceDays: number | null;
  connection: string | null;
  hash: string;
};

/** The hash of a link's secret, if we made it. Needs no I/O. */
export async function linkHash(env: Env, text: string): Promise<string | undefined> {
  const secret = secretIn(text);
  return (await isSecret(env, 'connect link', secret)) ? hashToken(secret) : undefined;
}

/** The link with this hash and its caller, if it is still good. @throws Refusal: unavailable, moved */
export async function openLink(
  env: Env,
  hash: string,
): Promise<{ caller: Caller & { link: string }; link: OpenedLink } | undefined> {
  const [found] = await read<OpenedLink & { accountId: string; status: Account['status'] }>(
    openDatabase(env),
  )`
    select ${columns}, l.hash, l.account_id as accountId, a.status, a.name as account,
      a.evidence_days as evidenceDays, coalesce(c.name, c.tsp) as connection
    from connect_links l join accounts a on a.id = l.account_id and a.status not in ('suspended', 'moved')
    left join connections c on c.id = l.connection_id
    where l.hash = ${hash} and (l.connection_id is not null or l.expires_at > ${Date.now()})`;
  if (!found) {
    await refuseIfMoved(env);
    return undefined;
  }
  const { accountId, status, ...link } = found;
  refuseInactive(status);
  return { caller: { accountId, link: hash }, link };
}

/** Connects a provider by a link, which is then used. @throws Refusal: as `connectProvider`, or invalid, once used */
export const connectByLink = (
  env: Env,
  caller: Caller & { link: string },
  input: NewPull,
): Promise<CoveredConnection> =>
  connectProvider(env, caller, input, (db, id) => [
    refuseUnless(
      db,
      sql`exists (select 1 from connect_links where hash = ${caller.link} and connection_id is null)`,
      usedLink,
    ),
    writeReturning(db)`update connect_links set connection_id = ${id} where hash = ${caller.link}`,
  ]);

/** Withdraws consent by a link: pulling ends, the credential is deleted, and records stay. */
export async function withdraw(
  env: Env,
  caller: Caller & { link: string },
  connectionId: string,
): Promise<void> {
  const now = Date.now();
  const nothing = JSON.stringify(await seal(env, connectionId, { credential: '' }));
  const own = sql`hash = ${caller.link} and connection_id = ${connectionId}`;
  await changePull(env, caller, connectionId, {
    noted: 'consent',
    set: sql`secrets = ${nothing}, credential_hash = ${`withdrawn ${connectionId}`}, session = null,
      webhook_secret = null, refused_at = null, due_at = null, claim = null, health = 3, health_at = ${now}`,
    also: (db) => [
      refuseUnless(db, sql`exists (select 1 from connect_links where ${own})`, usedLink),
      writeReturning(db)`update connect_links set withdrawn_at = ${now} where ${own}`,
    ],
  });
  await updateConnection(env, caller, connectionId, { healthStatus: 3 });
}
