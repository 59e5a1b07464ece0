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
import { insertRecords, insertTrips, listsOf, walk } from '../support/archive.ts';
import { rows } from '../support/rows.ts';
import { runs } from '../support/runs.ts';
import { metered } from '../support/runtime/meter.ts';
import { as, world, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara', 'geotab'] });
const them = worldBefore(beforeAll);
const caller: Caller = us;

const idsOf = (items: unknown[]) => items.map((item) => (item as { id: string }).id);
const time = (ms: number) => [new Date(ms).toISOString()];
/** Half of them end alike, so that the indexes cannot tell them apart. */
const vehicles = Array.from({ length: 14 }, (_, i) =>
  i % 2 ? newId() : crypto.randomUUID().replace(/.{12}$/, '0123456789ab'),
);
const drivers = [null, newId(), newId()];

/** At times that often coincide. */
const seed = fc.record({
  startedAt: fc.integer({ min: 1, max: 12 }),
  vehicle: fc.constantFrom(...vehicles),
  driver: fc.constantFrom(...drivers),
  risk: fc.integer({ min: 1, max: 5 }),
  connection: fc.nat(2),
});
const filter = fc.record({
  vehicleIds: fc.option(fc.uniqueArray(fc.constantFrom(...vehicles), { minLength: 1, maxLength: 13 })),
  driver: fc.option(fc.constantFrom(...drivers.slice(1))),
  from: fc.option(fc.integer({ min: 1, max: 6 })),
  to: fc.option(fc.integer({ min: 7, max: 13 })),
  risk: fc.option(fc.integer({ min: 1, max: 5 })),
  connection: fc.option(fc.nat(2)),
});

describe('walking a list to its end', () => {
  // An index leads to trips of an account, and only to safety events of a connection.
  it('yields each item that was there at the start once, in order, whatever is inserted meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('trips', 'safety_events'),
        fc.array(seed, { maxLength: 60 }),
        fc.array(fc.array(seed, { maxLength: 4 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 20 }),
        filter,
        fc.boolean(),
        async (
          table,
          atStart,
          inserts,
          limit,
          { vehicleIds, driver, from, to, risk, connection },
          descending,
        ) => {
          for (const each of ['trips', 'safety_events']) await rows(`delete from ${each}`);
          const least = table === 'trips' ? null : risk;
          const ids = await insertRecords(table, us, atStart);
          await insertRecords(
            table,
            them,
            atStart.map((one) => ({ ...one, connection: 0 })),
          );
          const matching = atStart
            .map((one, i) => ({ ...one, id: ids[i] ?? '' }))
            .filter(
              (one) =>
                (!vehicleIds || vehicleIds.includes(one.vehicle)) &&
                (!driver || driver === one.driver) &&
                (!least || one.risk >= least) &&
                (connection === null || connection === one.connection) &&
                one.startedAt >= (from ?? 0) &&
                one.startedAt < (to ?? 100),
            )
            .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
            .map(({ id }) => id);
          if (descending) matching.reverse();
          const query = {
            limit: [String(limit)],
            ...(vehicleIds && { vehicleIds }),
            ...(driver && { driverIds: [driver] }),
            ...(least && { minEventRisk: [String(least)] }),
            ...((from || table !== 'trips') && { from: time(from ?? 0) }),
            ...((to || table !== 'trips') && { to: time(to ?? 100) }),
          };
          const connectionId = connection === null ? undefined : us.connections[connection]?.id;
          const { items, pages } = await walk(
            env,
            caller,
            listsOf[table],
            { connectionId, descending, query },
            async () => void (await insertRecords(table, us, inserts.shift() ?? [])),
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
    const seeds = Array.from({ length: 2 * maxScanned + 500 }, (_, i) => ({
      startedAt: i,
      risk: [1500, 2499].includes(i) ? 5 : 1,
    }));
    await rows('delete from safety_events');
    const ids = await insertRecords('safety_events', us, seeds);
    const query = { from: ['1970-01-01'], to: ['1970-01-02'], minEventRisk: ['5'] };
    const request = { connectionId: us.connection.id, query };
    const { items, pages } = await walk(env, caller, safetyEvents.list, request);
    expect(pages).toEqual([0, 1, 1]);
    expect(idsOf(items)).toEqual([ids[1500], ids[2499]]);
  });
});

it('a page of 50 costs one round trip and at most 60 rows, first or deep, and writes nothing', async () => {
  await rows('delete from trips');
  const seeds = Array.from({ length: 600 }, (_, i) => ({
    startedAt: i + 1,
    vehicle: vehicles[i % 2] ?? '',
    driver: drivers[1] ?? '',
  }));
  await insertTrips(us, seeds);
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

it('a page over connections costs a few rows for each that is shown or looked through', async () => {
  await rows('delete from safety_events');
  await insertRecords(
    'safety_events',
    us,
    Array.from({ length: 3000 }, (_, i) => ({ startedAt: i, risk: 1 + (i % 5), connection: i % 3 })),
  );
  const page = async (narrowing: Record<string, string[]>) => {
    const meter = metered();
    const query = { from: time(0), to: time(5000), limit: ['50'], ...narrowing };
    const request = { connectionId: undefined, query, descending: true };
    return { ...(await readList(meter.env, caller, safetyEvents.list, request)), ...meter.cost };
  };
  const all = await page({});
  expect([all.items.length, all.trips]).toEqual([50, 1]);
  expect(all.read).toBeLessThanOrEqual(6 * 51 + 40);
  const rare = await page({ eventTypes: ['Railroad Crossing Violation'] });
  expect([rare.items, rare.next]).toEqual([[], expect.any(String)]);
  expect(rare.read).toBeLessThanOrEqual(15 * 1000);
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
    await insertTrips(us, [{ startedAt: 1 }, { startedAt: 2 }, { startedAt: 3 }]);
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
