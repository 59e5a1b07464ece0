import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { safetyEvents } from '../../src/fleet/lists/safety-events.ts';
import { readList } from '../../src/fleet/service.ts';
import type { Caller } from '../../src/platform/db/guard.ts';
import { newId } from '../../src/platform/db/ids.ts';
import { maxPageBytes } from '../../src/platform/db/pages.ts';
import { through } from '../../src/platform/db/through.ts';
import { addRows, rows } from '../support/rows.ts';
import { allPages, worldBefore } from '../support/world.ts';

const vehicles = Array.from({ length: 10 }, newId);
const events = 300;
/** Long enough that a page of 500 would have 5 MB: quotes take twice their bytes as JSON. */
const longName = '"'.repeat(200);
const manyGroups = JSON.stringify(Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(100, 'é')));

const us = worldBefore(beforeAll);
const caller: Caller = us;
let ids: string[];
beforeAll(async () => {
  ids = Array.from({ length: events }, newId);
  await addRows('safety_events', events, (i) => ({
    id: ids[i],
    account_id: us.accountId,
    connection_id: us.connection.id,
    source_id: ids[i],
    tsp: 'Motive',
    translated_incident_types: '["Speeding"]',
    event_risk: 1 + ((i + 1) % 2),
    started_at: i + 1,
    vehicle_id: vehicles[i % 10],
  }));
  await rows('update safety_events set vehicle_name = ?1, vehicle_groups = ?2', longName, manyGroups);
});

/** The bindings, with a count of the bytes that D1 returns. */
function counting() {
  const returned: number[] = [];
  const DB = through(env.DB, async (run) => {
    const result = await run();
    returned.push(JSON.stringify(result).length);
    return result;
  });
  const bindings: Env = { ...env, DB };
  return { bindings, returned };
}

const day = { from: ['1970-01-01'], to: ['1970-01-02'] };

describe('events that were kept when vehicles could have 100 groups', () => {
  it.each<[string, { query: Record<string, string[]>; descending?: boolean }, (at: number) => boolean]>([
    ['all', { query: { limit: ['500'] } }, () => true],
    ['newest first', { query: { limit: ['500'] }, descending: true }, () => true],
    [
      'of ten vehicles that pass a filter',
      { query: { limit: ['500'], vehicleIds: vehicles, minEventRisk: ['2'] } },
      (at) => at % 2 === 1,
    ],
  ])('are listed once each, %s, in pages of at most 1 MiB', async (_, { query, descending }, wanted) => {
    const { bindings, returned } = counting();
    const pages = await allPages((cursor) =>
      readList(bindings, caller, safetyEvents.list, {
        connectionId: us.connection.id,
        query: { ...day, ...query, ...(cursor && { cursor: [cursor] }) },
        ...(descending && { descending }),
      }),
    );
    for (const page of pages) {
      const bytes = new TextEncoder().encode(JSON.stringify(page.items)).length;
      expect(bytes).toBeLessThanOrEqual(maxPageBytes);
      if (page.next) expect(page.items.length).toBeGreaterThan(0);
    }
    const walked = pages.flatMap(({ items }) => items.map(({ id }) => id));
    const expected = ids.filter((_, at) => wanted(at + 1));
    expect(walked).toEqual(descending ? expected.toReversed() : expected);
    expect(Math.max(...returned)).toBeLessThanOrEqual(5 * maxPageBytes);
  });
});
