import { and, eq, sql } from 'drizzle-orm';
import {
  addConnection,
  type Connection,
  type NewConnection,
  newConnection,
} from '../fleet/connections.ts';
import type { Database } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { webhookConnections, webhooks } from '../platform/db/schema/webhooks.ts';
import { isFiltered } from './notifications/pass.ts';

/** Adds a connection, also to webhooks that cover all. @throws Refusal: invalid */
export async function createConnection(
  env: Env,
  caller: Caller,
  input: NewConnection,
): Promise<Connection> {
  const connection = newConnection(caller, input);
  await asCaller(env, caller, (db) => ({ added: addWithWebhooks(db, caller, connection) }));
  return connection;
}

/** The statements that add a connection, also to webhooks that cover all. */
export const addWithWebhooks = (db: Database, caller: Caller, connection: Connection) => [
  addConnection(db, caller, connection),
  joinWebhooks(db, connection),
];

/** It comes after their other connections. */
const joinWebhooks = (db: Database, { id, accountId, createdAt }: Connection) =>
  db.insert(webhookConnections).select(
    db
      .select({
        connectionId: sql<string>`${id}`.as('connection_id'),
        webhookId: webhooks.id,
        notificationTypes: webhooks.notificationTypes,
        place: sql<number>`${createdAt}`.as('place'),
        filtered: sql<boolean>`${isFiltered(webhooks.options)}`.as('filtered'),
      })
      .from(webhooks)
      .where(and(eq(webhooks.accountId, accountId), eq(webhooks.allConnections, true))),
  );
