import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type { Account, Units } from '../../accounts/accounts.ts';
import type { PortalUser } from '../../accounts/people.ts';
import { read } from '../../platform/db/database.ts';
import { readRows } from '../../platform/db/rows.ts';
import { accounts, portalUsers } from '../../platform/db/schema/accounts.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { hourMs } from '../../platform/durations.ts';
import { countedHours } from '../../webhooks/deliveries/read/counts.ts';
import { type Attention, attentionOf } from './attention.ts';

/** A session with its person. `version` is that of the watched page, from before the page is read. */
export type Session = {
  user: PortalUser;
  account: string;
  status: Account['status'];
  units: Units;
  /** For how many days the account keeps the evidence of accidents, if it does. */
  evidenceDays: number | null;
  attention: Attention;
  version: string;
  hash: string;
};

/** The session with this hash, with the menu's counts, in one query. `watched` is by default the account. */
export async function findSession(
  env: Env,
  hash: string,
  watched?: Watched,
): Promise<Session | undefined> {
  const now = Date.now();
  const [found] = await readRows(openDatabase(env), portalUsers, {
    account: accounts.name,
    status: accounts.status,
    units: accounts.units,
    evidenceDays: accounts.evidenceDays,
    ...attentionOf(accounts.id, now),
    version: sql<
      string | number | null
    >`${versionOf(watched ?? { of: 'account', id: accounts.id }, now)}`,
  })`join accounts on accounts.id = portal_users.account_id and status <> 'moved'
    where portal_users.id = (select user_id from sessions where hash = ${hash} and expires_at > ${now})`;
  if (!found) return undefined;
  const {
    account,
    status,
    units,
    evidenceDays,
    accidents,
    connections,
    webhooks,
    version,
    ...user
  } = found;
  const attention = { accidents, connections, webhooks };
  return {
    user,
    account,
    status,
    units,
    evidenceDays,
    attention,
    version: String(version ?? ''),
    hash,
  };
}

/** The subject of a page: an account's records, a webhook's deliveries, or a connection, which also pulls. */
export type Watched = { of: string; id: string };

/** SQL for a text that changes whenever the subject does; null before. */
export function versionOf({ of, id }: { of: string; id: string | SQLWrapper }, now: number): SQL {
  if (of === 'webhook')
    return sql`(select json_array(hour, delivered, failed, retried) from webhook_hours
      where webhook_id = ${id} and slot = ${Math.floor(now / hourMs) % countedHours})`;
  if (of === 'connection')
    return sql`(select json_array(${newestChange(sql`c.account_id`)}, c.health_status, c.last_pulled_at, p.paused_at,
        p.refused_at)
      from connections c left join pulls p on p.connection_id = c.id where c.id = ${id})`;
  return newestChange(id);
}

const newestChange = (accountId: string | SQLWrapper): SQL =>
  sql`(select max(seq) from changes where account_id = ${accountId})`;

/** The version of the subject, if the session has not ended. Reads two rows. */
export async function readVersion(
  env: Env,
  watched: Watched,
  sessionHash: string,
): Promise<string | undefined> {
  const now = Date.now();
  const [found] = await read<{ version: string | number | null }>(openDatabase(env))`
    select ${versionOf(watched, now)} as version from sessions
    where hash = ${sessionHash} and expires_at > ${now}`;
  return found && String(found.version ?? '');
}
