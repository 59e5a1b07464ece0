import { env } from 'cloudflare:workers';
import { safetyEvents } from '#src/core/fleet/lists/safety-events.ts';
import { readList } from '#src/core/fleet/service.ts';
import { newId } from '#src/core/platform/db/ids.ts';
import { maxPageBytes, readPage } from '#src/core/platform/db/pages.ts';
import { through } from '#src/core/platform/db/through.ts';
import { insertRecords } from '#test/support/lists.ts';
import { rows } from '#test/support/rows.ts';
import { allPages, worldBefore } from '#test/support/world.ts';

const vehicles = Array.from({ length: 10 }, newId);
/** Long enough that a page of 500 would have 5 MB: quotes take twice their bytes as JSON. */
const longName = '"'.repeat(200);
const manyGroups = JSON.stringify(Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(100, 'é')));

const us = worldBefore(beforeAll);
let ids: string[];
beforeAll(async () => {
  ids = await insertRecords(
    'safety_events',
    us,
    Array.from({ length: 300 }, (_, i) => ({
      startedAt: i + 1,
      risk: 1 + ((i + 1) % 2),
      vehicle: vehicles[i % 10] ?? '',
    })),
  );
  await rows(
    'update safety_events set vehicle_name = ?1, vehicle_groups = ?2',
    longName,
    manyGroups,
  );
});

it.each([
  ['all', {}, false],
  ['newest first', {}, true],
  ['those that pass a filter', { vehicleIds: vehicles, minEventRisk: ['2'] }, false],
])('%s are listed once each, in pages of at most 1 MiB', async (_, filters, descending) => {
  let largest = 0;
  const DB = through(env.DB, async (run) => {
    const result = await run();
    largest = Math.max(largest, JSON.stringify(result).length);
    return result;
  });
  const query = { from: ['1970-01-01'], to: ['1970-01-02'], limit: ['500'], ...filters };
  const pages = await allPages((cursor) =>
    readList(
      { ...env, DB },
      us,
      safetyEvents.list,
      {
        connectionId: us.connection.id,
        query: { ...query, ...(cursor && { cursor: [cursor] }) },
        descending,
      },
      readPage,
    ),
  );
  for (const { items } of pages) {
    expect(new TextEncoder().encode(JSON.stringify(items)).length).toBeLessThanOrEqual(
      maxPageBytes,
    );
    expect(items.length).toBeGreaterThan(0);
  }
  const expected = ids.filter((_, at) => !('minEventRisk' in filters) || at % 2 === 0);
  const listed = pages.flatMap(({ items }) => items.map(({ id }) => id));
  expect(listed).toEqual(descending ? expected.toReversed() : expected);
  expect(largest).toBeLessThanOrEqual(5 * maxPageBytes);
});
