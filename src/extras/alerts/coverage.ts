import { and, desc, eq, gt, isNotNull, not, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import {
  type Connection,
  type NewConnection,
  newConnection,
} from '../../core/fleet/connections.ts';
import { config } from '../../core/platform/config.ts';
import type { Database, Statements } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { accidents } from '../../core/platform/db/schema/fleet.ts';
import { addWithWebhooks } from '../../core/webhooks/add-connection.ts';
import { ACCIDENT } from '../../core/webhooks/notifications/types.ts';
import { mailRules } from './tables.ts';

export type CoveredConnection = Connection & { isCovered: boolean };

/** SQL for whether a webhook, person or channel is notified of the connection `c`, or nobody is to be. */
export const isCovered = (env: Env): SQL => sql`(c.notifies_nobody
  or exists (
    select 1 from mail_rules r where r.account_id = c.account_id and r.levels > 0
      and ${recipientOf(env)} is not null)
  or exists (
    select 1 from webhook_connections wc cross join webhooks w on w.id = wc.webhook_id
    where wc.connection_id = c.id and wc.notification_types & ${ACCIDENT}
      and w.paused_at is null))`;

/** SQL for the address or channel that the rule `r` notifies; null if it cannot. */
const recipientOf = (env: Env): SQL => sql`coalesce(
  (select name from alert_channels where id = r.recipient_id),
  (select email from portal_users where id = r.recipient_id and confirmed_at is not null
    and ${config(env).emailFrom ? 1 : 0}))`;

/** Why nobody is, and the warning. */
export const whyUncovered =
  'No active webhook receives them, and no person or channel is notified.';
export const uncovered = `Nobody is notified of accidents of this connection. ${whyUncovered}`;

const c = alias(connections, 'c');

const selectCovered = (env: Env, db: Database, { accountId }: Caller, id: string) =>
  db
    .select({ isCovered: isCovered(env).mapWith(Boolean) })
    .from(c)
    .where(and(eq(c.id, id), eq(c.accountId, accountId)));

/** Whether anybody is notified of accidents of a connection, or like an accident; true without one. */
export const isConnectionCovered = async (env: Env, caller: Caller, id: string): Promise<boolean> =>
  coveredIn(await asCaller(env, caller, (db) => selectCovered(env, db, caller, id)));
export const isAccidentCovered = async (env: Env, caller: Caller, id: string): Promise<boolean> =>
  coveredIn(await asCaller(env, caller, (db) => selectCoveredOf(env, db, caller, id)));

const coveredIn = ([found]: { isCovered: boolean }[]): boolean => found?.isCovered ?? true;

const selectCoveredOf = (env: Env, db: Database, { accountId }: Caller, id: string) =>
  db
    .select({ isCovered: isCovered(env).mapWith(Boolean) })
    .from(accidents)
    .crossJoin(c)
    .where(
      and(
        eq(c.id, accidents.connectionId),
        eq(accidents.id, id),
        eq(accidents.accountId, accountId),
      ),
    );

/** Adds a connection, also to webhooks that cover all. @throws Refusal: invalid */
export async function createConnection(
  env: Env,
  caller: Caller,
  input: NewConnection,
  alongside: (db: Database) => Statements = () => [],
): Promise<CoveredConnection> {
  const connection = newConnection(caller, input);
  const { covered } = await asCaller(env, caller, (db) => ({
    added: addWithWebhooks(db, caller, connection),
    covered: selectCovered(env, db, caller, connection.id),
    alongside: alongside(db),
  }));
  return { ...connection, isCovered: covered[0]?.isCovered === true };
}

/** A connection with a warning if nobody is. */
export const withWarning = ({ isCovered, ...connection }: CoveredConnection) => ({
  ...connection,
  warning: isCovered ? null : uncovered,
});

/** One more than are shown, so that a text can say that there are others. */
const maxNamed = 6;

/** How many of the account's connections, newest first, are checked for who is notified. */
const maxChecked = 200;

/** Some people and channels that are notified of accidents. */
export function selectNotified(env: Env, db: Database, { accountId }: Caller) {
  const r = alias(mailRules, 'r');
  const some = db
    .select({ name: sql<string>`${recipientOf(env)}`.as('name') })
    .from(r)
    .where(and(eq(r.accountId, accountId), gt(r.levels, 0)))
    .limit(maxNamed)
    .as('some');
  return db.select({ name: some.name }).from(some).where(isNotNull(some.name));
}

/** Some connections with accidents to expect, of which nobody is notified. Reads some four rows for each of 200. */
export function selectUncovered(env: Env, db: Database, { accountId }: Caller, needsCover?: SQL) {
  const newest = db
    .select()
    .from(connections)
    .where(eq(connections.accountId, accountId))
    .orderBy(desc(connections.createdAt), desc(connections.id))
    .limit(maxChecked)
    .as('c');
  return db
    .select({
      id: newest.id,
      name: sql<string>`coalesce(${newest.name}, ${newest.tsp})`.as('called'),
    })
    .from(newest)
    .where(and(not(isCovered(env)), needsCover))
    .limit(maxNamed);
}
