import { and, eq, exists, notExists, sql } from 'drizzle-orm';
import { audit } from '../../core/accounts/audit/write.ts';
import { savingExternalId } from '../../core/fleet/connections.ts';
import { findItem, notFound } from '../../core/fleet/find.ts';
import { vehicles as vehicleRecords } from '../../core/fleet/lists/vehicles.ts';
import { recordChange } from '../../core/fleet/record-changes.ts';
import { refuseUnless } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { vehicles } from '../../core/platform/db/schema/fleet.ts';

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
  const own = and(eq(vehicles.id, id), eq(vehicles.accountId, accountId));
  const differs = and(own, sql`${vehicles.externalId} is not ${externalId}`);
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
        refuseUnless(
          db,
          exists(db.select({ id: vehicles.id }).from(vehicles).where(own)),
          notFound(vehicleRecords.list).failure,
        ),
        audit(db, caller, 'changed', 'connections', eq(connections.id, changed), [
          'externalId of a vehicle',
        ]),
        // Vehicles of a deleted connection may still exist, and give up their identifiers.
        db
          .update(vehicles)
          .set({ externalId: null })
          .where(and(has, notExists(owner))),
        db.update(vehicles).set({ externalId, updatedAt: source.now }).where(differs),
        recordChange(
          db,
          source,
          'changed',
          'vehicle',
          sql`(select ${id} as id where changes() > 0)`,
        ),
      ];
    }),
  );
  return findItem(env, caller, vehicleRecords.list, id);
}
