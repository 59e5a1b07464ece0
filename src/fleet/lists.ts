import { eq, gte, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import * as v from 'valibot';
import type { ListRow, ListTable } from '../db/pages.ts';
import { connections, drivers, safetyEvents, trips, vehicles } from '../db/tables.ts';
import { presentConnection, presentDriver, presentEvent, presentTrip, presentVehicle } from './present.ts';
import { DriverStatus, EventTypes, Ids, Risk, Text, VehicleStatus } from './query.ts';

/** One filter: how its parameter reads, and either an index that leads to its rows or what they must be. */
export type Filter = { schema: v.GenericSchema<string[] | undefined, unknown> } & (
  | { lead: SQLiteColumn }
  | { where: (value: never) => SQL }
);

/** A list endpoint, declared: its table, its order, its filters and what an item looks like (design 7). */
export type List<T extends ListTable = ListTable> = {
  path: string;
  table: T;
  sort: SQLiteColumn;
  /** The column that names the connection. */
  connection: SQLiteColumn;
  connectionRequired: boolean;
  range: 'none' | 'optional' | 'required';
  filters: Record<string, Filter>;
  present: (row: ListRow<T>) => object;
};

const filter = <S extends v.GenericSchema<string[], unknown>>(
  schema: S,
  where: (value: v.InferOutput<S>) => SQL,
): Filter => ({ schema: v.optional(schema), where });

/** A filter by ids that an index leads to. */
const leading = (column: SQLiteColumn): Filter => ({ schema: v.optional(Ids), lead: column });

const one = <T extends ListTable>(list: List<T>): List<T> => list;

export const connectionList = one({
  path: '/connections',
  table: connections,
  sort: connections.createdAt,
  connection: connections.id,
  connectionRequired: false,
  range: 'none',
  filters: {},
  present: presentConnection,
});

export const driverList = one({
  path: '/drivers',
  table: drivers,
  sort: drivers.createdAt,
  connection: drivers.connectionId,
  connectionRequired: false,
  range: 'none',
  filters: {
    status: filter(DriverStatus, (status) => eq(drivers.status, status)),
    licenseState: filter(Text, (state) => eq(drivers.licenseState, state)),
  },
  present: presentDriver,
});

export const vehicleList = one({
  path: '/vehicles',
  table: vehicles,
  sort: vehicles.createdAt,
  connection: vehicles.connectionId,
  connectionRequired: true,
  range: 'none',
  filters: {
    status: filter(VehicleStatus, (status) => eq(vehicles.status, status)),
    vin: {
      schema: v.optional(
        v.pipe(
          Text,
          v.transform((vin) => [vin]),
        ),
      ),
      lead: vehicles.vin,
    },
  },
  present: presentVehicle,
});

export const tripList = one({
  path: '/trips',
  table: trips,
  sort: trips.startedAt,
  connection: trips.connectionId,
  connectionRequired: false,
  range: 'optional',
  filters: { vehicleIds: leading(trips.vehicleId), driverIds: leading(trips.driverId) },
  present: presentTrip,
});

export const safetyEventList = one({
  path: '/safety-events',
  table: safetyEvents,
  sort: safetyEvents.startedAt,
  connection: safetyEvents.connectionId,
  connectionRequired: true,
  range: 'required',
  filters: {
    vehicleIds: leading(safetyEvents.vehicleId),
    driverIds: leading(safetyEvents.driverId),
    // The types are few and fixed words, so that finding a quoted one in the JSON is exact.
    eventTypes: filter(
      EventTypes,
      (types) =>
        or(...types.map((type) => sql`instr(${safetyEvents.translatedIncidentTypes}, ${`"${type}"`}) > 0`)) ??
        sql`true`,
    ),
    minEventRisk: filter(Risk, (risk) => gte(safetyEvents.eventRisk, risk)),
  },
  present: presentEvent,
});
