import { and, eq, sql } from 'drizzle-orm';
import { type SQLiteColumn, unionAll } from 'drizzle-orm/sqlite-core';
import { asCaller, type Caller, notBeingDeleted } from '../../core/platform/db/guard.ts';
import * as stored from '../../core/platform/db/schema/fleet.ts';
import type { AccountTable } from '../../core/platform/db/schema/types.ts';

/** The kinds of records, as their pages are called. */
type Kind = 'event' | 'accident' | 'vehicle' | 'driver' | 'trip';

/** The kinds of the account's records in D1 with this id, usually one or none. */
export async function findAny(env: Env, caller: Caller, id: string): Promise<Kind[]> {
  const found = await asCaller(env, caller, (db) => {
    const among = (kind: Kind, table: AccountTable & { connectionId: SQLiteColumn }) =>
      db
        .select({ kind: sql<Kind>`${kind}`.as('kind') })
        .from(table)
        .where(
          and(
            eq(table.id, id),
            eq(table.accountId, caller.accountId),
            notBeingDeleted(table.connectionId),
          ),
        );
    return unionAll(
      among('event', stored.safetyEvents),
      among('accident', stored.accidents),
      among('vehicle', stored.vehicles),
      among('driver', stored.drivers),
      among('trip', stored.trips),
    );
  });
  return found.map(({ kind }) => kind);
}
