import { sql } from 'drizzle-orm';
import { audit } from '../accounts/audit/write.ts';
import { write } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { savingExternalId } from './connections.ts';
import { findItem } from './find.ts';
import { vehicles } from './lists/vehicles.ts';
import { recordChange } from './record-changes.ts';

/** Sets a vehicle's own identifier, and returns it as listed. @throws Refusal: invalid */
export async function setVehicleExternalId(
  env: Env,
  caller: Caller,
  id: string,
  externalId: string | null,
) {
  const { accountId } = caller;
  const vehicle = await findItem(env, caller, vehicles.list, id);
  if (!vehicle) return undefined;
  const source = { accountId, connectionId: vehicle.connectionId, now: Date.now() };
  const own = sql`id = ${id} and account_id = ${accountId}`;
  const ofChanged = sql`id = (select connection_id from vehicles where ${own} and external_id is not ${externalId})`;
  await savingExternalId('vehicle', () =>
    asCaller(env, caller, (db) => [
      audit(db, caller, 'changed', 'connections', ofChanged, ['externalId of a vehicle']),
      // Vehicles of a deleted connection may still exist, and give up their identifiers.
      write(db)`update vehicles set external_id = null
        where account_id = ${accountId} and external_id = ${externalId}
          and not exists (select 1 from connections c where c.id = connection_id and c.account_id = ${accountId})`,
      write(db)`update vehicles set external_id = ${externalId}, updated_at = ${source.now}
        where ${own} and external_id is not ${externalId}`,
      recordChange(db, source, 'changed', 'vehicle', sql`select ${id} as id where changes() > 0`),
    ]),
  );
  return findItem(env, caller, vehicles.list, id);
}
