import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { safetyEvents } from '../../src/fleet/lists/safety-events.ts';
import { readList } from '../../src/fleet/service.ts';
import type { Caller } from '../../src/platform/db/guard.ts';
import { newId } from '../../src/platform/db/ids.ts';
import { maxPageBytes } from '../../src/platform/db/pages.ts';
import { type World, world } from '../support/world.ts';

const vehicles = Array.from({ length: 10 }, newId);
const events = 1200;
/** Long enough that a page of 500 would have 5 MB: quotes take twice their bytes as JSON. */
const longName = '"'.repeat(200);
const manyGroups = JSON.stringify(Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(100, 'é')));

let us: World;
let caller: Caller;
let ids: string[];
beforeAll(async () => {
  us = await world();
  caller = { tokenId: us.tokenId, accountId: us.accountId };
  const rows = Array.from({ length: events }, (_, i) => ({
    id: newId(),
    at: i + 1,
    vehicle: vehicles[i % 10],
  }));
  ids = rows.map(({ id }) => id);
  for (let from = 0; from < events; from += 100)
    await env.DB.prepare(
      `insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
         translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
         created_at, updated_at)
       select value->>'id', ?2, ?3, value->>'id', 'Motive', '[]', '["Speeding"]', 1 + value->>'at' % 2, 0,
         value->>'at', value->>'vehicle', ?4, ?5, 0, 0 from json_each(?1)`,
    )
      .bind(
        JSON.stringify(rows.slice(from, from + 100)),
        us.accountId,
        us.connection.id,
        longName,
        manyGroups,
      )
      .run();
});

/** The bindings, with a count of the bytes that D1 returns. */
function counting() {
  const returned: number[] = [];
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await env.DB.batch(statements);
    returned.push(JSON.stringify(results.map(({ results }) => results)).length);
    return results;
  };
  const bindings: Env = { ...env, DB: { prepare: env.DB.prepare.bind(env.DB), batch } as D1Database };
  return { bindings, returned };
}

const day = { from: ['1970-01-01'], to: ['1970-01-02'] };

describe('events that were kept when vehicles could have 100 groups', () => {
  it.each<[string, { query: Record<string, string[]>; descending?: boolean }, (at: number) => boolean]>([
    ['all', { query: { limit: ['500'] } }, () => true],
    ['in pages of 50', { query: {} }, () => true],
    ['newest first', { query: { limit: ['500'] }, descending: true }, () => true],
    ['that pass a filter', { query: { limit: ['500'], minEventRisk: ['2'] } }, (at) => at % 2 === 1],
    ['of ten vehicles', { query: { limit: ['500'], vehicleIds: vehicles } }, () => true],
    [
      'of ten vehicles that pass a filter',
      { query: { limit: ['500'], vehicleIds: vehicles, minEventRisk: ['2'] } },
      (at) => at % 2 === 1,
    ],
  ])(
    'are listed once each, %s, in pages of at most 1 MiB',
    async (_, { query, descending }, wanted) => {
      const { bindings, returned } = counting();
      const walked: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await readList(bindings, caller, safetyEvents.list, {
          connectionId: us.connection.id,
          query: { ...day, ...query, ...(cursor && { cursor: [cursor] }) },
          ...(descending && { descending }),
        });
        const bytes = new TextEncoder().encode(JSON.stringify(page.items)).length;
        expect(bytes).toBeLessThanOrEqual(maxPageBytes);
        if (page.next) expect(page.items.length).toBeGreaterThan(0);
        walked.push(...page.items.map(({ id }) => id));
        cursor = page.next;
      } while (cursor);
      const expected = ids.filter((_, at) => wanted(at + 1));
      expect(walked).toEqual(descending ? expected.toReversed() : expected);
      expect(Math.max(...returned)).toBeLessThanOrEqual(5 * maxPageBytes);
    },
    60_000,
  );
});
