import { type ReadPage, readList } from '#src/core/fleet/service.ts';
import type { Caller } from '#src/core/platform/db/guard.ts';
import { addRows } from './rows.ts';
import { allPages, type World } from './world.ts';

/** A record of the database, of a vehicle of its own unless one is named. */
export type RecordSeed = {
  startedAt: number;
  vehicle?: string;
  driver?: string | null;
  risk?: number;
  connection?: number;
  id?: string;
};

const details = {
  trips: () => ({ start_location: '{"latitude":1.5,"longitude":-2}', distance_km: 12.25 }),
  safety_events: ({ risk = 1 }: RecordSeed) => ({
    tsp: 'Motive',
    translated_incident_types: '["Speeding"]',
    event_risk: risk,
  }),
};

export type RecordTable = keyof typeof details;

/** Puts records into the database as they are; returns their ids. */
export async function insertRecords(table: RecordTable, us: World, seeds: RecordSeed[]) {
  const ids = seeds.map(({ id = crypto.randomUUID() }) => id);
  await addRows(table, seeds.length, (i) => {
    const { startedAt, vehicle, driver, connection = 0 } = seeds[i] as RecordSeed; // one for each row
    return {
      id: ids[i],
      account_id: us.accountId,
      connection_id: us.connections[connection]?.id,
      source_id: ids[i],
      created_at: 5,
      updated_at: 7,
      started_at: startedAt,
      vehicle_id: vehicle ?? ids[i],
      driver_id: driver ?? null,
      ...details[table](seeds[i] as RecordSeed),
    };
  });
  return ids;
}

export const insertTrips = (us: World, seeds: RecordSeed[]): Promise<string[]> =>
  insertRecords('trips', us, seeds);

/** Reads a list to its end: its items, and the lengths of pages, after which `meanwhile` happens. */
export async function walkPages(
  read: ReadPage,
  bindings: Env,
  caller: Caller,
  list: Parameters<typeof readList>[2],
  request: {
    connectionId?: string | undefined;
    query: Record<string, string[]>;
    descending?: boolean;
  },
  meanwhile = async () => {},
) {
  const pages = await allPages(async (cursor) => {
    const query = { ...request.query, ...(cursor && { cursor: [cursor] }) };
    const asked = { connectionId: undefined, ...request, query };
    const page = await readList(bindings, caller, list, asked, read);
    await meanwhile();
    return page;
  });
  return {
    items: pages.flatMap(({ items }) => items),
    pages: pages.map(({ items }) => items.length),
  };
}
