import { and, eq, sql } from 'drizzle-orm';
import type { Database } from '../../core/platform/db/database.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { vehicles } from '../../core/platform/db/schema/fleet.ts';

/** How many groups people can choose from, of how many vehicles. */
const maxGroups = 100;
const maxVehicles = 2000;

/** The groups of the account's vehicles. */
export function selectGroups(db: Database, { accountId }: Caller) {
  const some = db
    .select({ groups: vehicles.groups })
    .from(connections)
    .crossJoin(vehicles)
    .where(and(eq(connections.accountId, accountId), eq(vehicles.connectionId, connections.id)))
    .limit(maxVehicles)
    .as('some');
  return db
    .selectDistinct({ name: sql<string>`g.value`.as('name') })
    .from(some)
    .crossJoin(sql`json_each(${some.groups}) g`)
    .orderBy(sql`g.value`)
    .limit(maxGroups);
}
