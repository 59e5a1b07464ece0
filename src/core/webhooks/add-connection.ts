import { and, eq, sql } from 'drizzle-orm';
import { addConnection, type Connection } from '../fleet/connections.ts';
import type { Database } from '../platform/db/database.ts';
import type { Caller } from '../platform/db/guard.ts';
import { webhookConnections, webhooks } from '../platform/db/schema/webhooks.ts';
import { isFiltered } from './notifications/pass.ts';

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
