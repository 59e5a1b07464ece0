import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { safetyEvents } from '#src/core/fleet/lists/safety-events.ts';
import { readList } from '#src/core/fleet/service.ts';
import { decodePosition, encodePosition } from '#src/core/platform/db/cursor.ts';
import { maxPageBytes, maxScanned, readPage } from '#src/core/platform/db/pages.ts';
import { through } from '#src/core/platform/db/through.ts';
import {
  allPages,
  as,
  insertRecords,
  insertTrips,
  invalid,
  metered,
  newId,
  rows,
  times,
  walkPages,
  world,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll, 'motive', 'samsara', 'geotab');
const vehicles = times(10, () => newId());
const day = { from: ['1970-01-01'], to: ['1970-01-02'] };

it('a page comes out short where filters let few rows pass, and the next goes on', async () => {
  const seeds = times(2 * maxScanned + 500, (i) => ({
    startedAt: i,
    risk: [1500, 2499].includes(i) ? 5 : 1,
  }));
  const ids = await insertRecords('safety_events', us, seeds);
  const query = { ...day, minEventRisk: ['5'] };
  const request = { connectionId: us.connection.id, query };
  const { items, pages } = await walkPages(readPage, env, us, safetyEvents.list, request);
  expect(pages).toEqual([0, 1, 1]);
  expect(items).toMatchObject([{ id: ids[1500] }, { id: ids[2499] }]);
});

it('pages over connections have each item once, in order, at a few rows for each that is shown', async () => {
  await rows('delete from safety_events');
  const seeds = times(3000, (i) => ({ startedAt: Math.floor(i / 2), connection: i % 3 }));
  const ids = await insertRecords('safety_events', us, seeds);
  const page = async (narrowing: object) => {
    const meter = metered();
    const query = { ...day, limit: ['500'], ...narrowing };
    const request = { connectionId: undefined, query };
    const found = await readList(meter.env, us, safetyEvents.list, request, readPage);
    expect(meter.cost).toMatchObject({ trips: 1, written: 0 });
    return { ...found, read: meter.cost.read };
  };
  const pages = await allPages((cursor) => page(cursor ? { cursor: [cursor] } : {}));
  for (const { read } of pages) expect(read).toBeLessThanOrEqual(6 * 501 + 60);
  const inOrder = ids
    .map((id, i) => ({ id, startedAt: Math.floor(i / 2) }))
    .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1));
  const found = pages.flatMap(({ items }) => items.map(({ id }) => id));
  expect(found).toEqual(inOrder.map(({ id }) => id));
  const rare = await page({ eventTypes: ['Railroad Crossing Violation'] });
  expect([rare.items, rare.next]).toEqual([[], expect.any(String)]);
  expect(rare.read).toBeLessThanOrEqual(15 * 1000);
});

describe('pages of at most 1 MiB', () => {
  const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;
  let ids: string[];
  beforeAll(async () => {
    await rows('delete from safety_events');
    const seeds = times(300, (i) => ({
      startedAt: i,
      risk: 1 + (i % 2),
      vehicle: vehicles[i % 10] ?? '',
    }));
    ids = await insertRecords('safety_events', us, seeds);
    // Long enough that a page of 500 would have 5 MB: quotes take twice their bytes as JSON.
    const groups = JSON.stringify(times(100, (i) => `${i}`.padEnd(100, 'é')));
    const lengthen = 'update safety_events set vehicle_name = ?1, vehicle_groups = ?2';
    await rows(lengthen, '"'.repeat(200), groups);
  });

  it.each([
    ['all', {}, false],
    ['newest first', {}, true],
    ['those that pass a filter', { vehicleIds: vehicles, minEventRisk: ['2'] }, false],
  ])('have %s, once each', async (_, filters, descending) => {
    let largest = 0;
    const DB = through(env.DB, async (run) => {
      const result = await run();
      largest = Math.max(largest, JSON.stringify(result).length);
      return result;
    });
    const query = { ...day, limit: ['500'], ...filters };
    const request = { connectionId: us.connection.id, query, descending };
    const list = safetyEvents.list;
    const { items, pages } = await walkPages(readPage, { ...env, DB }, us, list, request);
    let at = 0;
    for (const count of pages) {
      expect(count).toBeGreaterThan(0);
      expect(bytesOf(items.slice(at, at + count))).toBeLessThanOrEqual(maxPageBytes);
      at += count;
    }
    const expected = ids.filter((_, i) => !('minEventRisk' in filters) || i % 2 === 1);
    const inOrder = descending ? expected.toReversed() : expected;
    expect(items).toMatchObject(inOrder.map((id) => ({ id })));
    expect(largest).toBeLessThanOrEqual(5 * maxPageBytes);
  });
});

it('a Connection-Id is one id, or all in any spelling', async () => {
  const get = (id: string) => as(us.apiToken, { 'connection-id': id }).get('/vehicles');
  for (const id of [`all,${us.connection.id}`, '*'])
    expect(await get(id)).toMatchObject(invalid('Invalid connection id', 'Connection-Id'));
  expect((await get(' ALL ')).status).toBe(200);
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
      expect(reply).toMatchObject(invalid('Invalid cursor'));
  });
});
