import { and, eq, gte, inArray, lt, type SQLWrapper, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { keyOf } from '../../core/fleet/lists/search-keys.ts';
import { vinOf } from '../../core/fleet/lists/vin.ts';
import { type Database, transaction } from '../../core/platform/db/database.ts';
import { accounts, connections } from '../../core/platform/db/schema/accounts.ts';
import { drivers, vehicles } from '../../core/platform/db/schema/fleet.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { likest } from '../../core/platform/nearest.ts';
import { names } from './tables.ts';

/** What is looked for: the name of a vehicle or driver, a plate, a VIN or an id, perhaps of one account. */
export type Wanted = { kind: 'vehicle' | 'driver'; text: string; accountId?: string | undefined };

const maxMeant = 20;
const maxLike = 5;
/** How many names of each beginning are compared. */
const maxCompared = 300;

/** The vehicles or drivers that a text means, at most 20; without any, those with the 5 names most like it. */
export async function findInFleet(env: Env, wanted: Wanted) {
  const db = openDatabase(env);
  const meant = await transaction(
    db,
    selectItems(db, wanted, idsMeant(db, wanted)).limit(maxMeant),
  );
  if (meant.length > 0) return meant.map((one) => ({ ...one, meant: true }));
  const key = keyOf(wanted.text);
  const beginnings = [key.length - 1, Math.ceil(key.length / 2), 1].map((end) => key.slice(0, end));
  const found = await transaction(
    db,
    beginnings.map((beginning) => idsBeginning(db, wanted, beginning)),
  );
  const named = Map.groupBy(found.flat(), ({ name }) => name);
  const likeIt = likest(key, [...named.keys()], maxLike);
  const ids = likeIt
    .flatMap((name) => named.get(name)?.map(({ id }) => id) ?? [])
    .slice(0, maxMeant);
  const like = await transaction(db, selectItems(db, wanted, sql`(${sql.join(ids, sql`, `)})`));
  return like
    .sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    .map((one) => ({ ...one, meant: false }));
}

const ofAccount = ({ accountId }: Wanted) =>
  accountId === undefined ? undefined : eq(accounts.id, accountId);

const ofKind = ({ kind }: Wanted) => inArray(names.kind, [kind, `${kind} word`] as const);

/** The ids with this name, plate or VIN. Reads two rows and more of each account, or of the one that is named. */
function idsMeant(db: Database, wanted: Wanted) {
  const { kind, text } = wanted;
  const named = db
    .select({ id: names.id })
    .from(accounts)
    .crossJoin(names)
    .where(
      and(
        ofAccount(wanted),
        eq(names.accountId, accounts.id),
        ofKind(wanted),
        eq(names.name, keyOf(text)),
      ),
    );
  const id = text.toLowerCase();
  if (kind === 'driver') return sql`(${named.getSQL()} union select ${id})`;
  const withVin = db
    .select({ id: vehicles.id })
    .from(accounts)
    .crossJoin(vehicles)
    .where(
      and(ofAccount(wanted), eq(vehicles.accountId, accounts.id), eq(vehicles.vin, vinOf(text))),
    );
  return sql`(${named.getSQL()} union ${withVin.getSQL()} union select ${id})`;
}

function selectItems(db: Database, wanted: Wanted, ids: SQLWrapper) {
  const table = wanted.kind === 'vehicle' ? vehicles : drivers;
  const ofVehicle = (column: SQLiteColumn) =>
    sql<string | null>`${wanted.kind === 'vehicle' ? column : null}`.as(column.name);
  return db
    .select({
      id: table.id,
      name: table.name,
      licensePlate: ofVehicle(vehicles.licensePlate),
      vin: ofVehicle(vehicles.vin),
      sourceId: table.sourceId,
      connection: sql<string>`coalesce(${connections.name}, ${connections.tsp})`.as('connection'),
      accountId: sql<string>`${accounts.id}`.as('account_id'),
      account: sql<string>`${accounts.name}`.as('account'),
    })
    .from(table)
    .innerJoin(accounts, eq(accounts.id, table.accountId))
    .innerJoin(connections, eq(connections.id, table.connectionId))
    .where(and(inArray(table.id, ids), ofAccount(wanted)))
    .orderBy(table.name, table.id);
}

const idsBeginning = (db: Database, wanted: Wanted, beginning: string) =>
  db
    .select({ name: names.name, id: names.id })
    .from(accounts)
    .crossJoin(names)
    .where(
      and(
        ofAccount(wanted),
        eq(names.accountId, accounts.id),
        ofKind(wanted),
        gte(names.name, beginning),
        lt(names.name, `${beginning}\u{10ffff}`),
      ),
    )
    .limit(maxCompared);
