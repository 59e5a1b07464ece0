import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { safetyEvents } from '../../src/fleet/lists/safety-events.ts';
import { trips } from '../../src/fleet/lists/trips.ts';
import { readList } from '../../src/fleet/service.ts';
import { decodePosition, encodePosition } from '../../src/platform/db/cursor.ts';
import type { Caller } from '../../src/platform/db/guard.ts';
import { newId } from '../../src/platform/db/ids.ts';
import { maxScanned } from '../../src/platform/db/pages.ts';
import { walk } from '../support/archive.ts';
import { addRows, rows } from '../support/rows.ts';
import { runs } from '../support/runs.ts';
import { metered } from '../support/runtime/meter.ts';
import { as, world, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeAll);
const caller: Caller = us;

const idsOf = (items: unknown[]) => items.map((item) => (item as { id: string }).id);

type TripSeed = { startedAt: number; vehicle: number; driver: number };
const vehicles = Array.from({ length: 14 }, newId);
const drivers = [null, newId(), newId()];

/** Puts trips into the database as they are, at times that often coincide. */
async function insert(trips: TripSeed[]): Promise<string[]> {
  const ids = trips.map(() => crypto.randomUUID());
  await addRows('trips', trips.length, (i) => ({
    ...ofUs(ids[i]),
    vehicle_id: vehicles[trips[i]?.vehicle ?? 0],
    driver_id: drivers[trips[i]?.driver ?? 0],
    started_at: trips[i]?.startedAt,
  }));
  return ids;
}
const ofUs = (id = newId()) => ({
  id,
  account_id: us.accountId,
  connection_id: us.connection.id,
  source_id: id,
});

const seed = fc.record({
  startedAt: fc.integer({ min: 1, max: 12 }),
  vehicle: fc.nat(vehicles.length - 1),
  driver: fc.nat(drivers.length - 1),
});
const filter = fc.record({
  vehicles: fc.option(fc.uniqueArray(fc.nat(vehicles.length - 1), { minLength: 1, maxLength: 13 })),
  driver: fc.option(fc.integer({ min: 1, max: 2 })),
  from: fc.option(fc.integer({ min: 1, max: 6 })),
  to: fc.option(fc.integer({ min: 7, max: 13 })),
  connection: fc.boolean(),
});

describe('walking a list to its end', () => {
  it('yields each item that was there at the start once, in order, whatever is inserted meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(seed, { maxLength: 60 }),
        fc.array(fc.array(seed, { maxLength: 4 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 20 }),
        filter,
        fc.boolean(),
        async (atStart, inserts, limit, chosen, descending) => {
          await rows('delete from trips');
          const ids = await insert(atStart);
          const matching = atStart
            .map((trip, i) => ({ ...trip, id: ids[i] ?? '' }))
            .filter(
              (trip) =>
                (!chosen.vehicles || chosen.vehicles.includes(trip.vehicle)) &&
                (!chosen.driver || chosen.driver === trip.driver) &&
                (!chosen.from || trip.startedAt >= chosen.from) &&
                (!chosen.to || trip.startedAt < chosen.to),
            )
            .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
            .map(({ id }) => id);
          if (descending) matching.reverse();
          const time = (ms: number) => [new Date(ms).toISOString()];
          const query = {
            limit: [String(limit)],
            ...(chosen.vehicles && { vehicleIds: chosen.vehicles.map((at) => vehicles[at] ?? '') }),
            ...(chosen.driver && { driverIds: [drivers[chosen.driver] ?? ''] }),
            ...(chosen.from && { from: time(chosen.from) }),
            ...(chosen.to && { to: time(chosen.to) }),
          };
          const connectionId = chosen.connection ? us.connection.id : undefined;

          const { items, pages } = await walk(
            env,
            caller,
            trips.list,
            { connectionId, descending, query },
            async () => void (await insert(inserts.shift() ?? [])),
          );
          expect(Math.max(...pages)).toBeLessThanOrEqual(limit);
          const walked = idsOf(items);
          expect(walked.filter((id) => ids.includes(id))).toEqual(matching);
          expect(new Set(walked).size).toBe(walked.length);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  it('also when the filters let so few rows pass that a page comes out short', async () => {
    const ids = Array.from({ length: 2 * maxScanned + 500 }, newId);
    await addRows('safety_events', ids.length, (i) => ({
      ...ofUs(ids[i]),
      tsp: 'Motive',
      translated_incident_types: '["Speeding"]',
      event_risk: [1500, 2499].includes(i) ? 5 : 1,
      started_at: i,
    }));
    const query = { from: ['1970-01-01'], to: ['1970-01-02'], minEventRisk: ['5'] };
    const request = { connectionId: us.connection.id, query };
    const { items, pages } = await walk(env, caller, safetyEvents.list, request);
    expect(pages).toEqual([0, 1, 1]);
    expect(idsOf(items)).toEqual([ids[1500], ids[2499]]);
  });
});

it('a page of 50 costs one round trip and at most 60 rows, first or deep, and writes nothing', async () => {
  await rows('delete from trips');
  await insert(Array.from({ length: 600 }, (_, i) => ({ startedAt: i + 1, vehicle: i % 2, driver: 1 })));
  let cursor: string | undefined;
  for (const filter of [{}, { vehicleIds: [vehicles[0] ?? ''] }, { driverIds: [drivers[1] ?? ''] }])
    for (let page = 0; page < 5; page++) {
      const { env: bindings, cost } = metered();
      const query = { ...filter, ...(cursor && { cursor: [cursor] }) };
      const request = { connectionId: us.connection.id, query };
      const { items, next } = await readList(bindings, caller, trips.list, request);
      expect(items).toHaveLength(50);
      expect(cost).toMatchObject({ trips: 1, written: 0 });
      expect(cost.read).toBeLessThanOrEqual(60);
      cursor = page < 4 ? next : undefined;
    }
});

describe('a cursor', () => {
  const position = fc.record({ sort: fc.integer({ min: 0, max: 2e12 }), id: fc.uuid() });

  it('reads back for the list it was written for, and for no other', () => {
    fc.assert(
      fc.property(position, fc.string(), fc.string(), (at, list, other) => {
        expect(decodePosition(encodePosition(at, list), list)).toEqual(at);
        if (list !== other) expect(decodePosition(encodePosition(at, list), other)).toBeUndefined();
      }),
    );
  });

  it('that is altered, truncated or extended is none', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom('', ...'ABCXYZabcxyz0189-_=+/ ', 'AA'));
    fc.assert(
      fc.property(position, change, (at, [where, what]) => {
        const cursor = encodePosition(at, 'list');
        const i = where % (cursor.length + 1);
        const altered = cursor.slice(0, i) + what + cursor.slice(i + 1);
        if (altered !== cursor) expect(decodePosition(altered, 'list')).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  it('of another list, filter or account is 400', async () => {
    await rows('delete from trips');
    await insert([1, 2, 3].map((startedAt) => ({ startedAt, vehicle: 0, driver: 1 })));
    const them = await world();
    const get = (path: string, token = us.apiToken, connection?: string) =>
      as(token, connection ? { 'connection-id': connection } : {}).get<unknown[]>(path);
    const { next } = await get('/trips?limit=1');
    expect((await get(`/trips?limit=2&cursor=${next}`)).data).toHaveLength(2);
    for (const reply of [
      await get(`/drivers?cursor=${next}`),
      await get(`/trips?from=1970-01-01&cursor=${next}`),
      await get(`/trips?cursor=${next}`, us.apiToken, us.connection.id),
      await get(`/trips?cursor=${next}`, them.apiToken),
    ])
      expect(reply).toMatchObject({ status: 400, message: 'Invalid cursor' });
  });
});
