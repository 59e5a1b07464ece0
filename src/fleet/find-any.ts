import { sql } from 'drizzle-orm';
import { statement } from '../platform/db/database.ts';
import { asCaller, type Caller, connectionsBeingDeleted } from '../platform/db/guard.ts';

/** The kinds of what has an id, each with its table. */
const tables = {
  event: 'safety_events',
  accident: 'accidents',
  vehicle: 'vehicles',
  driver: 'drivers',
  trip: 'trips',
} as const;

export type FoundKind = keyof typeof tables;

/**
 * Which of the account's records D1 has under an id: nearly always one or none. Reads a row for each kind.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function findAny(env: Env, caller: Caller, id: string): Promise<FoundKind[]> {
  const each = Object.entries(tables).map(
    ([kind, table]) =>
      sql`select ${kind} as kind, connection_id as "connectionId" from ${sql.raw(table)}
        where id = ${id} and account_id = ${caller.accountId}`,
  );
  const [leaving, found] = await asCaller(env, caller, (db) => [
    connectionsBeingDeleted(db, caller),
    statement<{ kind: FoundKind; connectionId: string }>(db, sql.join(each, sql` union all `)),
  ]);
  return found
    .filter(({ connectionId }) => leaving.every((connection) => connection.id !== connectionId))
    .map(({ kind }) => kind);
}
