import { and, eq, notExists, sql } from 'drizzle-orm';
import { audit } from '../accounts/audit/write.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { connections } from '../platform/db/schema/accounts.ts';
import { vehicles } from '../platform/db/schema/fleet.ts';
import { savingExternalId } from './connections.ts';
import { findItem } from './find.ts';
import { vehicles as vehicleRecords } from './lists/vehicles.ts';
import { ifChanged, recordChange } from './record-changes.ts';

/** Sets a vehicle's own identifier, and returns it as listed. @throws Refusal: invalid */
export async function setVehicleExternalId(
  env: Env,
  caller: Caller,
  id: string,
  externalId: string | null,
) {
  const { accountId } = caller;
  const vehicle = await findItem(env, caller, vehicleRecords.list, id);
  if (!vehicle) return undefined;
  const source = { accountId, connectionId: vehicle.connectionId, now: Date.now() };
  const differs = and(
    eq(vehicles.id, id),
    eq(vehicles.accountId, accountId),
    sql`${vehicles.externalId} is not ${externalId}`,
  );
  const has = and(eq(vehicles.accountId, accountId), sql`${vehicles.externalId} = ${externalId}`);
  await savingExternalId('vehicle', () =>
    asCaller(env, caller, (db) => {
      const owner = db
        .select({ id: connections.id })
        .from(connections)
        .where(
          and(eq(connections.id, vehicles.connectionId), eq(connections.accountId, accountId)),
        );
      const changed = db.select({ id: vehicles.connectionId }).from(vehicles).where(differs);
      return [
        audit(db, caller, 'changed', 'connections', eq(connections.id, changed), [
          'externalId of a vehicle',
        ]),
        // Vehicles of a deleted connection may still exist, and give up their identifiers.
        db
          .update(vehicles)
          .set({ externalId: null })
          .where(and(has, notExists(owner))),
        db.update(vehicles).set({ externalId, updatedAt: source.now }).where(differs),
        recordChange(db, source, 'changed', 'vehicle', ifChanged(id)),
      ];
    }),
  );
  return findItem(env, caller, vehicleRecords.list, id);
}
