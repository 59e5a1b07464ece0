import { eq, sql } from 'drizzle-orm';
import { operatorInFound } from '../core/accounts/accounts.ts';
import type { Database, Statement } from '../core/platform/db/database.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { connections, tokens } from '../core/platform/db/schema/accounts.ts';
import { drivers, erasedDrivers, vehicles } from '../core/platform/db/schema/fleet.ts';
import type { AccountTable } from '../core/platform/db/schema/types.ts';
import { deliveries, webhooks } from '../core/platform/db/schema/webhooks.ts';
import type { CoreList } from './handlers.ts';

/** What an id in an operator's path names, and how to find the account that owns it. */
export type Owner = {
  name: string;
  find: (db: Database, id: string) => Statement<{ accountId: string }[]>;
};

const select = (table: AccountTable, db: Database, id: string) =>
  db
    .select({ accountId: sql<string>`${table.accountId}` })
    .from(table)
    .where(eq(table.id, id));

export const ownerIn = (name: string, table: AccountTable): Owner => ({
  name,
  find: (db, id) => select(table, db, id),
});

/** By the list that begins the path; the id of an account is enough. */
export const owners: Record<Exclude<CoreList, 'accounts'>, Owner> = {
  connections: ownerIn('connection', connections),
  tokens: ownerIn('token', tokens),
  vehicles: ownerIn('vehicle', vehicles),
  drivers: {
    name: 'driver',
    find: (db, id) => select(drivers, db, id).unionAll(select(erasedDrivers, db, id)),
  },
  // Deliveries outlive their webhook.
  webhooks: {
    name: 'webhook',
    find: (db, id) =>
      select(webhooks, db, id)
        .unionAll(
          db
            .select({ accountId: sql<string>`${deliveries.accountId}` })
            .from(deliveries)
            .where(eq(deliveries.webhookId, id)),
        )
        .limit(1),
  },
};

/** An operator acting in the account that owns something. @throws Refusal: invalid, when it does not exist */
export const operatorInOwner = (env: Env, { name, find }: Owner, id: string): Promise<Caller> =>
  operatorInFound(env, (db) => find(db, id), `Unknown ${name}`);
