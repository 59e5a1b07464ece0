import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { safetyEvents } from '#src/core/fleet/lists/safety-events.ts';
import { trips } from '#src/core/fleet/lists/trips.ts';
import { readList } from '#src/core/fleet/service.ts';
import { decodePosition, encodePosition } from '#src/core/platform/db/cursor.ts';
import type { Caller } from '#src/core/platform/db/guard.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { maxScanned, readPage } from '#src/core/platform/db/pages.ts';
import { insertRecords, insertTrips, walkPages } from '#test/support/lists.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { as, invalid, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara', 'geotab'] });
const caller: Caller = us;

const time = (ms: number) => [new Date(ms).toISOString()];
const vehicles = [newId(), newId()];
const driver = newId();

it('a page comes out short where filters let few rows pass, and the next goes on', async () => {
  const seeds = Array.from({ length: 2 * maxScanned + 500 }, (_, i) => ({
    startedAt: i,
    risk: [1500, 2499].includes(i) ? 5 : 1,
  }));
  const ids = await insertRecords('safety_events', us, seeds);
  const query = { from: ['1970-01-01'], to: ['1970-01-02'], minEventRisk: ['5'] };
  const request = { connectionId: us.connection.id, query };
  const { items, pages } = await walkPages(readPage, env, caller, safetyEvents.list, request);
  expect(pages).toEqual([0, 1, 1]);
  expect(items).toMatchObject([{ id: ids[1500] }, { id: ids[2499] }]);
});

it('a page of 50 costs a round trip and at most 60 rows, first or deep', async () => {
  await rows('delete from trips');
  const seeds = Array.from({ length: 600 }, (_, i) => ({
    startedAt: i + 1,
    vehicle: vehicles[i % 2] ?? '',
    driver,
  }));
  await insertTrips(us, seeds);
  let cursor: string | undefined;
  for (const filter of [{}, { vehicleIds: [vehicles[0] ?? ''] }, { driverIds: [driver] }])
    for (let page = 0; page < 5; page++) {
      const { env: bindings, cost } = metered();
      const query = { ...filter, ...(cursor && { cursor: [cursor] }) };
      const request = { connectionId: us.connection.id, query };
      const { items, next } = await readList(bindings, caller, trips.list, request, readPage);
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
    Array.from({ length: 3000 }, (_, i) => ({
      startedAt: i,
      risk: 1 + (i % 5),
      connection: i % 3,
    })),
  );
  const page = async (narrowing: Record<string, string[]>) => {
    const meter = metered();
    const query = { from: time(0), to: time(5000), limit: ['50'], ...narrowing };
    const request = { connectionId: undefined, query, descending: true };
    const found = await readList(meter.env, caller, safetyEvents.list, request, readPage);
    return { ...found, ...meter.cost };
  };
  const all = await page({});
  expect([all.items.length, all.trips]).toEqual([50, 1]);
  expect(all.read).toBeLessThanOrEqual(6 * 51 + 40);
  const rare = await page({ eventTypes: ['Railroad Crossing Violation'] });
  expect([rare.items, rare.next]).toEqual([[], expect.any(String)]);
  expect(rare.read).toBeLessThanOrEqual(15 * 1000);
});

it('Connection-Id: all lists all connections in order, at a few rows for each item of 20,000', async () => {
  await rows('delete from safety_events');
  const startedAt = Array.from({ length: 20_000 }, (_, i) => Math.floor(i / 2));
  const ids = await insertRecords(
    'safety_events',
    us,
    startedAt.map((at, i) => ({ startedAt: at, connection: i % 3 })),
  );
  await us.api.get('/connections'); // notes the use of the token
  const found: string[] = [];
  const most = 6 * 501 + 60;
  let cursor: string | undefined;
  for (let page = 0; page < 5; page++) {
    const meter = metered();
    const query = `from=1970-01-01&to=1970-01-02&limit=500${cursor ? `&cursor=${cursor}` : ''}`;
    const all = as(us.apiToken, { 'connection-id': 'all' }, meter.env);
    const { data, next } = await all.get<{ id: string; startedAt: string }[]>(
      `/safety-events?${query}`,
    );
    expect(meter.cost).toMatchObject({ trips: 1, written: 0 });
    expect(meter.cost.read).toBeLessThanOrEqual(most);
    found.push(...data.map(({ id }) => id));
    cursor = next;
  }
  const place = new Map(ids.map((id, i) => [id, i]));
  const wanted = ids
    .map((id, i) => ({ id, at: startedAt[i] ?? 0 }))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
    .slice(0, 2500)
    .map(({ id }) => id);
  expect(found.map((id) => place.get(id))).toEqual(wanted.map((id) => place.get(id)));
});

it.each(['/vehicles', '/safety-events?from=1970-01-01&to=1970-01-02'])(
  '%s is 400 without a Connection-Id, and for one that is neither an id nor all',
  async (path) => {
    const get = (id?: string) => as(us.apiToken, id ? { 'connection-id': id } : {}).get(path);
    expect(await get()).toMatchObject(invalid('Connection-Id header is required', 'Connection-Id'));
    for (const id of ['any', `all,${us.connection.id}`, '*'])
      expect(await get(id)).toMatchObject({
        ...invalid('Invalid connection id', 'Connection-Id'),
        errors: [{ field: 'Connection-Id', message: 'must be a UUID or all' }],
      });
    expect(await get(' ALL ')).toMatchObject({ status: 200 });
  },
);

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
      expect(reply).toMatchObject(invalid('Invalid cursor'));
  });
});
