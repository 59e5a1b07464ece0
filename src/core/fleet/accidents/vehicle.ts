import { type SQL, sql } from 'drizzle-orm';
import { type Caller, isWithin } from '../../platform/db/guard.ts';

/**
 * The condition that a caller may see an accident's vehicle, by its id: found by its VIN, it may be of a connection that
 * their token does not have. Undefined for those who see all.
 */
export function isSeenBy(caller: Caller, vehicleId: SQL): SQL | undefined {
  const within = isWithin(caller, sql`seen.connection_id`);
  return (
    within && sql`exists (select 1 from vehicles seen where seen.id = ${vehicleId} and ${within})`
  );
}

/** SQL for whether a webhook covers the connection of the vehicle `v`. */
export const isCoveredBy = (webhookId: SQL): SQL =>
  sql`exists (select 1 from webhook_connections where webhook_id = ${webhookId} and connection_id = v.connection_id)`;
