import {
  and,
  desc,
  eq,
  exists,
  gt,
  isNotNull,
  isNull,
  lt,
  lte,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import { refuseIfMoved } from '../../core/accounts/accounts.ts';
import { type AuditedTable, audit } from '../../core/accounts/audit/write.ts';
import { hashToken } from '../../core/accounts/tokens/format.ts';
import { setHealthStatus } from '../../core/fleet/connections.ts';
import { originOf } from '../../core/platform/config.ts';
import { seal } from '../../core/platform/crypto.ts';
import { type Database, refuseUnless, transaction } from '../../core/platform/db/database.ts';
import {
  asCaller,
  type Caller,
  type Credential,
  refuseInactive,
} from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { accounts, connections } from '../../core/platform/db/schema/accounts.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { isSecret, newSecret, secretIn, withCell } from '../../people/secrets.ts';
import type { CoveredConnection } from '../alerts/coverage.ts';
import { evidenceDays } from '../evidence/tables.ts';
import { connectProvider, type NewPull } from './connect.ts';
import { changePull } from './connected.ts';
import { connectLinks } from './tables.ts';

export const connectLinkMs = 7 * dayMs;
export const maxOpenLinks = 20;

const usedLink = 'This link has been used already.';

/** What the account's people see of a link. */
const columns = {
  id: connectLinks.id,
  name: connectLinks.name,
  createdAt: connectLinks.createdAt,
  expiresAt: connectLinks.expiresAt,
  /** Null until it is used. */
  connectionId: connectLinks.connectionId,
  /** When consent was withdrawn by the link. */
  withdrawnAt: connectLinks.withdrawnAt,
};

/** A link as the account's people see it. Times are milliseconds since 1970. */
export type ConnectLink = Pick<typeof connectLinks.$inferSelect, keyof typeof columns>;

/** Whether a link can be opened: it was used, or still can be. */
const isGood = () =>
  or(isNotNull(connectLinks.connectionId), gt(connectLinks.expiresAt, Date.now()));

/** The account's links that can still be used, then those that were, the newest first; at most 100. */
export async function listLinks(env: Env, caller: Caller): Promise<ConnectLink[]> {
  return asCaller(env, caller, (db) =>
    db
      .select(columns)
      .from(connectLinks)
      .where(and(eq(connectLinks.accountId, caller.accountId), isGood()))
      .orderBy(
        isNotNull(connectLinks.connectionId),
        desc(connectLinks.createdAt),
        desc(connectLinks.id),
      )
      .limit(100),
  );
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
  const open = and(eq(connectLinks.accountId, accountId), isNull(connectLinks.connectionId));
  const url = `${originOf(env)}/portal/connect?secret=${withCell(env, secret)}`; // a path would be logged
  const create = (db: Database) => [
    db.delete(connectLinks).where(and(open, lte(connectLinks.expiresAt, now))),
    refuseUnless(
      db,
      lt(db.$count(connectLinks, open), maxOpenLinks),
      `An account can have at most ${maxOpenLinks} links that are not used yet. Revoke one first.`,
    ),
    db.insert(connectLinks).values({ id, accountId, hash, name, createdAt: now, expiresAt }),
    audit(db, caller, 'created', audited, id),
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
  const own = and(eq(connectLinks.id, id), eq(connectLinks.accountId, caller.accountId));
  const { deleted } = await asCaller(env, caller, (db) => ({
    known: refuseUnless(db, isAny(db, own), { kind: 'not found' }),
    unused: refuseUnless(db, isAny(db, and(own, isNull(connectLinks.connectionId))), usedLink),
    audited: audit(db, caller, 'revoked', audited, id),
    deleted: db.delete(connectLinks).where(own).returning(columns),
  }));
  return deleted[0];
}

/** What a link's holder may see: whom it connects to, and what was connected by it. */
type OpenedLink = ConnectLink & {
  account: string;
  evidenceDays: number | null;
  connection: string | null;
  hash: string;
};

/** Somebody outside the account, who has the link with this hash. */
type LinkCaller = Caller & { hash: string };

const audited: AuditedTable = { table: 'connect_links', subject: 'connect link' };

const credentialOf = (hash: string): Credential => ({
  row: () => sql`(
    select account_id, null as role from connect_links
    where hash = ${hash} and (connection_id is not null or expires_at > ${Date.now()}))`,
  refusal: { kind: 'not found' },
  who: sql`(select id, 'Connect link for ' || name as name from connect_links where hash = ${hash})`,
});

/** The hash of a link's secret, if we made it. Needs no I/O. */
export async function linkHash(env: Env, text: string): Promise<string | undefined> {
  const secret = secretIn(text);
  return (await isSecret(env, 'connect link', secret)) ? hashToken(secret) : undefined;
}

/** The link with this hash and its caller, if it is still good. @throws Refusal: unavailable, moved */
export async function openLink(
  env: Env,
  hash: string,
): Promise<{ caller: LinkCaller; link: OpenedLink } | undefined> {
  const db = openDatabase(env);
  const [found] = await transaction(
    db,
    db
      .select({
        ...columns,
        hash: connectLinks.hash,
        accountId: connectLinks.accountId,
        status: accounts.status,
        account: sql<string>`${accounts.name}`.as('account'),
        evidenceDays: evidenceDays.days,
        connection: sql<string | null>`coalesce(${connections.name}, ${connections.tsp})`.as(
          'connection',
        ),
      })
      .from(connectLinks)
      .innerJoin(
        accounts,
        and(
          eq(accounts.id, connectLinks.accountId),
          notInArray(accounts.status, ['suspended', 'moved']),
        ),
      )
      .leftJoin(evidenceDays, eq(evidenceDays.accountId, connectLinks.accountId))
      .leftJoin(connections, eq(connections.id, connectLinks.connectionId))
      .where(and(eq(connectLinks.hash, hash), isGood())),
  );
  if (!found) {
    await refuseIfMoved(env);
    return undefined;
  }
  const { accountId, status, ...link } = found;
  refuseInactive(status);
  return { caller: { accountId, hash, credential: credentialOf(hash) }, link };
}

/** Connects a provider by a link, which is then used. @throws Refusal: as `connectProvider`, or invalid, once used */
export const connectByLink = (
  env: Env,
  caller: LinkCaller,
  input: NewPull,
): Promise<CoveredConnection> =>
  connectProvider(env, caller, input, (db, id) => [
    refuseUnless(db, isAny(db, and(isOf(caller), isNull(connectLinks.connectionId))), usedLink),
    db.update(connectLinks).set({ connectionId: id }).where(isOf(caller)),
  ]);

const isOf = ({ hash }: LinkCaller) => eq(connectLinks.hash, hash);

const isAny = (db: Database, which: SQL | undefined): SQL =>
  exists(db.select({ id: connectLinks.id }).from(connectLinks).where(which));

/** Withdraws consent by a link: pulling ends, the credential is deleted, and records stay. */
export async function withdraw(env: Env, caller: LinkCaller, connectionId: string): Promise<void> {
  const now = Date.now();
  const nothing = await seal(env, connectionId, { credential: '' });
  const own = and(isOf(caller), eq(connectLinks.connectionId, connectionId));
  await changePull(env, caller, connectionId, {
    noted: 'consent',
    set: {
      secrets: nothing,
      credentialHash: `withdrawn ${connectionId}`,
      session: null,
      webhookSecret: null,
      refusedAt: null,
      dueAt: null,
      claim: null,
      health: 3,
      healthAt: now,
    },
    also: (db) => [
      refuseUnless(db, isAny(db, own), usedLink),
      db.update(connectLinks).set({ withdrawnAt: now }).where(own),
      ...setHealthStatus(db, { id: connectionId, accountId: caller.accountId, now }, 3),
    ],
  });
}
