import { and, eq, gt, ne, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Account, Units } from '../../core/accounts/accounts.ts';
import { transaction } from '../../core/platform/db/database.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { hourMs } from '../../core/platform/durations.ts';
import { countedHours } from '../../core/webhooks/deliveries/counts.ts';
import type { Look } from '../../people/looks.ts';
import type { PortalUser } from '../../people/people.ts';
import { portalUsers, sessions } from '../../people/tables.ts';
import { type Attention, attentionOf, type ConnectionSql } from './attention.ts';

/** A session with its person. `version` is that of the watched page, from before the page is read. */
export type Session = {
  user: PortalUser;
  account: string;
  status: Account['status'];
  units: Units;
  attention: Attention;
  version: string;
  hash: string;
  /** Until when an operator looks at the portal. */
  look?: number;
};

/** The session with this hash, with the menu's counts, in one query. `watched` is by default the account. */
export async function findSession(
  env: Env,
  hash: string,
  known: ConnectionSql,
  watched?: Watched,
): Promise<Session | undefined> {
  const now = Date.now();
  const db = openDatabase(env);
  const session = db.select({ userId: sessions.userId }).from(sessions).where(isActive(hash, now));
  const [found] = await transaction(
    db,
    db
      .select({ user: portalUsers, ...ofAccount(now, known, watched) })
      .from(portalUsers)
      .innerJoin(
        accounts,
        and(eq(accounts.id, portalUsers.accountId), ne(accounts.status, 'moved')),
      )
      .where(eq(portalUsers.id, session)),
  );
  return found && { ...found, version: String(found.version ?? ''), hash };
}

/** What a session has of the account. */
function ofAccount(now: number, known: ConnectionSql, watched?: Watched) {
  // By name: Drizzle leaves the table out where a query has only one, and a subquery would compare its own ids.
  const id = sql`accounts.id`;
  const { accidents, connections, webhooks } = attentionOf(id, now, known);
  return {
    account: accounts.name,
    status: accounts.status,
    units: accounts.units,
    attention: {
      accidents: accidents.as('accidents'),
      connections: connections.as('connections'),
      webhooks: webhooks.as('webhooks'),
    },
    version: versionOf(watched ?? { of: 'account', id }, now, known).as('version'),
  };
}

/** The session of an operator who looks at the portal: as a viewer, without a row of their own. */
export async function findLook(
  env: Env,
  { accountId, until }: Look,
  hash: string,
  known: ConnectionSql,
): Promise<Session | undefined> {
  const db = openDatabase(env);
  const which = and(eq(accounts.id, accountId), ne(accounts.status, 'moved'));
  const [found] = await transaction(
    db,
    db.select(ofAccount(Date.now(), known)).from(accounts).where(which),
  );
  const user = { ...onlooker, accountId, email: 'Operator' };
  return found && { ...found, user, version: '', hash, look: until };
}

/** No person has this id. */
const onlooker: PortalUser = {
  id: 'operator',
  ...{ accountId: '', email: '', role: 'viewer', createdAt: 0, lastSignInAt: null },
  ...{ confirmedAt: 0, getsAlerts: false, timeZone: null, linksAt: '[]', subject: null },
  ...{ summaryDueAt: null, summaryZone: null },
};

const isActive = (hash: string, now: number) =>
  and(eq(sessions.hash, hash), gt(sessions.expiresAt, now));

/** The subject of a page: an account's records, a webhook's deliveries, or a connection, which also pulls. */
export type Watched = { of: string; id: string };

/** SQL for a text that changes whenever the subject does; null before. */
export function versionOf(
  { of, id }: { of: string; id: string | SQLWrapper },
  now: number,
  known: ConnectionSql,
): SQL<string | number | null> {
  if (of === 'webhook')
    return sql`(select json_array(hour, delivered, failed, retried) from webhook_hours
      where webhook_id = ${id} and slot = ${Math.floor(now / hourMs) % countedHours})`;
  if (of === 'connection')
    return sql`(select json_array(${newestChange(sql`c.account_id`)}, c.health_status, c.last_pulled_at,
        ${known.version(sql`c.id`)})
      from connections c where c.id = ${id})`;
  return newestChange(id);
}

const newestChange = (accountId: string | SQLWrapper): SQL<number | null> =>
  sql`(select max(seq) from changes where account_id = ${accountId})`;

/** The version of the subject, if the session has not ended. Reads two rows. */
export async function readVersion(
  env: Env,
  watched: Watched,
  sessionHash: string,
  known: ConnectionSql,
): Promise<string | undefined> {
  const now = Date.now();
  const db = openDatabase(env);
  const version = versionOf(watched, now, known).as('version');
  const [found] = await transaction(
    db,
    db.select({ version }).from(sessions).where(isActive(sessionHash, now)),
  );
  return found && String(found.version ?? '');
}
