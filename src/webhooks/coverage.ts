import { type SQL, sql } from 'drizzle-orm';
import {
  addConnection,
  type Connection,
  type NewConnection,
  newConnection,
  selectConnection,
} from '../fleet/connections.ts';
import { config } from '../platform/config.ts';
import { type Database, read, type Statements, write } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { ACCIDENT } from './notifications/types.ts';

export type CoveredConnection = Connection & { isCovered: boolean };

/** SQL for whether a webhook, person or channel is notified of the connection `c`, or nobody is to be. */
export const isCovered = (env: Env): SQL => sql`(c.notifies_nobody or exists (
    select 1 from mail_rules r where r.account_id = c.account_id and r.levels > 0
      and ${recipientOf(env)} is not null)
  or exists (
    select 1 from webhook_connections wc cross join webhooks w on w.id = wc.webhook_id
    where wc.connection_id = c.id and wc.notification_types & ${ACCIDENT} and w.paused_at is null))`;

/** SQL for the address or channel that the rule `r` notifies; null if it cannot. */
export const recipientOf = (env: Env): SQL => sql`coalesce(
  (select name from alert_channels where id = r.recipient_id),
  (select email from portal_users where id = r.recipient_id and confirmed_at is not null
    and ${config(env).emailFrom ? 1 : 0}))`;

/** Why nobody is, and the warning. */
export const whyUncovered =
  'No active webhook receives them, and no person or channel is notified.';
export const uncovered = `Nobody is notified of accidents of this connection. ${whyUncovered}`;

const selectCovered = (env: Env, db: Database, { accountId }: Caller, id: string) =>
  read<{ isCovered: number }>(db)`
    select ${isCovered(env)} as isCovered from connections c where id = ${id} and account_id = ${accountId}`;

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
  return { ...connection, isCovered: covered[0]?.isCovered === 1 };
}

/** The statements that add a connection, also to webhooks that cover all. */
export const addWithWebhooks = (db: Database, caller: Caller, connection: Connection) => [
  addConnection(db, caller, connection),
  joinWebhooks(db, connection),
];

/** It comes after their other connections. */
const joinWebhooks = (db: Database, { id, accountId, createdAt }: Connection) =>
  write(db)`
    insert into webhook_connections (connection_id, webhook_id, notification_types, place, filtered)
    select ${id}, id, notification_types, ${createdAt}, filters is not null
    from webhooks where account_id = ${accountId} and all_connections`;

/** A connection of the account, and whether anybody is notified of its accidents. */
export async function findCovered(
  env: Env,
  caller: Caller,
  id: string,
): Promise<CoveredConnection | undefined> {
  const { found, covered } = await asCaller(env, caller, (db) => ({
    found: selectConnection(db, caller, id),
    covered: selectCovered(env, db, caller, id),
  }));
  return found[0] && { ...found[0], isCovered: covered[0]?.isCovered === 1 };
}
