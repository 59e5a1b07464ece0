import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import {
  columnList,
  type Database,
  type Results,
  refuseUnless,
} from '../../platform/db/database.ts';
import { accidents } from '../../platform/db/schema/fleet.ts';
import { type Failure, Refusal } from '../../platform/errors.ts';
import { groupKeysOfVehicle } from '../lists/group-keys.ts';
import type { Accident, AccidentRecord, Fleet, KnownDriver, KnownVehicle } from './decide.ts';

/** How many vehicles of an account with the same VIN are read to choose one: the newest. */
export const maxVehicles = 50;

const { acknowledged, closed, assignedTo, note, ...columns } = getTableColumns(accidents);

/** SQL for an accident as a text, by which it is compared with what was read. */
const asText = sql<string>`json_array(${sql.join(Object.values(columns), sql`, `)})`;

/** SQL for what is known of the vehicle `v`. */
export const vehicleFields = sql`json_object('id', id, 'connectionId', connection_id, 'name', name,
  'licensePlate', license_plate, 'vin', vin, 'status', status, 'createdAt', created_at,
  'groups', ${groupKeysOfVehicle})`;

export const driverFields = sql`json_object('id', id, 'name', name)`;

/** SQL for a list in JSON. */
const listIn = <T>(item: SQL, from: SQL) =>
  sql`(select json_group_array(${item}) from ${from})`.mapWith(
    (list: string): T[] => JSON.parse(list), // as its items are made
  );

/** The statement that reads, for each record, its accident as it is, and what of the fleet decides about it. */
export function readForDecisions(
  db: Database,
  { accountId }: { accountId: string },
  records: AccidentRecord[],
) {
  const said = JSON.stringify(records, ['id', 'vin', 'vehicleId', 'driverId']);
  const vehicles = sql`(
    select * from vehicles
    where id in (r.value->>'vehicleId', ${accidents.namedVehicleId}) and +account_id = ${accountId}
    union all
    select * from (
      select * from vehicles
      where account_id = ${accountId} and vin in (r.value->>'vin', ${accidents.vin})
      order by created_at desc, id desc limit ${maxVehicles})) v`;
  const isDriver = sql`id in (r.value->>'driverId', ${accidents.driverId})`;
  return db
    .select({
      accident: columns,
      asRead: sql<string>`${asText}`.as('as_read'),
      vehicles: listIn<KnownVehicle>(vehicleFields, vehicles).as('known_vehicles'),
      drivers: listIn<KnownDriver>(driverFields, sql`drivers where ${isDriver}`).as(
        'known_drivers',
      ),
      erasedDrivers: listIn<string>(sql`id`, sql`erased_drivers where ${isDriver}`).as('erased'),
    })
    .from(sql`json_each(${said}) r`)
    .leftJoin(accidents, eq(accidents.id, sql`r.value->>'id'`));
}

/** What was read, with accidents by their ids. */
export type Known = {
  accidents: Map<string, { accident: Accident; asRead: string }>;
  fleet: Fleet;
};

export function knownFrom(rows: Results<ReturnType<typeof readForDecisions>>): Known {
  const accidents: Known['accidents'] = new Map();
  for (const { accident, asRead } of rows)
    if (accident) accidents.set(accident.id, { accident, asRead });
  return {
    accidents,
    fleet: {
      vehicles: byId(rows.flatMap(({ vehicles }) => vehicles)),
      drivers: byId(rows.flatMap(({ drivers }) => drivers)),
      erasedDrivers: rows.flatMap(({ erasedDrivers }) => erasedDrivers),
    },
  };
}

/** Each once; of several with one id, the last. */
export const byId = <T extends { id: string }>(all: T[]): T[] => [
  ...new Map(all.map((one) => [one.id, one])).values(),
];

/** An accident to store, and as which text it was read; null if there was none. */
export type ToStore = { after: Accident; asRead: string | null };

/** The columns that change; the others identify an accident. */
const { id, accountId, connectionId, tSP, createdAt, ...changing } = columns;

const names = (of: { [key: string]: { name: string } }) =>
  Object.values(of).map(({ name }) => name);

/** The statements that store accidents, if all are as they were read. @throws Refusal: see `isRace` */
export function storeAccidents(db: Database, all: ToStore[]) {
  const rows = JSON.stringify(all.map(({ after, asRead }) => ({ ...after, asRead })));
  const values = Object.keys(columns).map((key) => sql`r.value->>${sql.raw(`'${key}'`)}`);
  return {
    checked: refuseUnless(
      db,
      sql`not exists (
        select 1 from json_each(${rows}) r left join accidents on accidents.id = r.value->>'id'
        where iif(accidents.id is null, null, ${asText}) is not r.value->>'asRead'
          or r.value->>'driverId' in (select id from erased_drivers))`,
      changedMeanwhile,
    ),
    // Raw: any number of rows by one parameter.
    stored: db.run(sql`
      insert into accidents (${columnList(names(columns))})
      select ${sql.join(values, sql`, `)} from json_each(${rows}) r where true
      on conflict (id) do update set
        ${columnList(names(changing), (name) => sql`${name} = excluded.${name}`)}`),
  };
}

const changedMeanwhile: Failure = {
  kind: 'unavailable',
  retryAfter: 1,
  message: 'An accident changed while it was written. Send the call again.',
};

/** Whether accidents were not stored because they have changed since they were read. */
export const isRace = (error: unknown): boolean =>
  error instanceof Refusal &&
  error.failure.kind === 'unavailable' &&
  error.failure.message === changedMeanwhile.message;
