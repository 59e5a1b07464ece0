import { eq, sql } from 'drizzle-orm';
import { deletedAccountId, operatorIn } from '../core/accounts/accounts.ts';
import { type Database, transaction } from '../core/platform/db/database.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { accounts, connections, tokens } from '../core/platform/db/schema/accounts.ts';
import { drivers, erasedDrivers, vehicles } from '../core/platform/db/schema/fleet.ts';
import type { AccountTable } from '../core/platform/db/schema/types.ts';
import { deliveries, webhooks } from '../core/platform/db/schema/webhooks.ts';
import { openDatabase } from '../core/platform/db/system.ts';
import { invalid } from '../core/platform/errors.ts';
import { alertChannels } from '../extras/alerts/tables.ts';
import { connectLinks } from '../extras/providers/tables.ts';

const ownerIn = (table: AccountTable) => (db: Database, id: string) =>
  db
    .select({ accountId: sql<string>`${table.accountId}` })
    .from(table)
    .where(eq(table.id, id));

/** How to find the account that owns something, by its id. */
const owners = {
  account: (db: Database, id: string) =>
    db.select({ accountId: accounts.id }).from(accounts).where(eq(accounts.id, id)),
  connection: ownerIn(connections),
  channel: ownerIn(alertChannels),
  link: ownerIn(connectLinks),
  token: ownerIn(tokens),
  vehicle: ownerIn(vehicles),
  driver: (db: Database, id: string) =>
    ownerIn(drivers)(db, id).unionAll(ownerIn(erasedDrivers)(db, id)),
  // Deliveries outlive their webhook.
  webhook: (db: Database, id: string) =>
    ownerIn(webhooks)(db, id)
      .unionAll(
        db
          .select({ accountId: sql<string>`${deliveries.accountId}` })
          .from(deliveries)
          .where(eq(deliveries.webhookId, id)),
      )
      .limit(1),
};

export type Owned = keyof typeof owners;

/** An operator acting in the account that owns something. @throws Refusal: invalid, when it does not exist */
export async function operatorInOwnerOf(env: Env, kind: Owned, id: string): Promise<Caller> {
  const db = openDatabase(env);
  const [found] = await transaction(db, owners[kind](db, id));
  if (!found || found.accountId === deletedAccountId) throw invalid(`Unknown ${kind}`);
  return operatorIn(found.accountId);
}
