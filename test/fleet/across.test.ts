import { env } from 'cloudflare:workers';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { safetyEvents } from '../../src/fleet/lists/safety-events.ts';
import { readList } from '../../src/fleet/service.ts';
import type { Caller } from '../../src/platform/db/guard.ts';
import { newId } from '../../src/platform/db/ids.ts';
import { dayMs } from '../../src/platform/durations.ts';
import { emptyArchive, kindOf, lapse, move, walk, withoutArchive } from '../support/archive.ts';
import { rows } from '../support/rows.ts';
import { runs } from '../support/runs.ts';
import { metered } from '../support/runtime/meter.ts';
import { type World, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara', 'geotab'] });
const them = worldBefore(beforeAll);
const caller: Caller = us;

type Seed = { startedAt: number; risk: number; vehicle?: string; connection: number };

/** Puts safety events into the database as they are, each of one of our connections. */
async function insert(whose: World, seeds: Seed[]) {
  const events = seeds.map((seed) => ({ ...seed, id: newId() }));
  await rows(
    `insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
       translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
       created_at, updated_at)
     select value->>'id', ?2, value->>'connection', value->>'id', 'Motive', '["x"]', '["Other"]', value->>'risk', 0,
       value->>'startedAt', coalesce(value->>'vehicle', 'v'), 'Truck', '[]', 0, 0 from json_each(?1)`,
    JSON.stringify(
      events.map(({ connection, ...event }) => ({ ...event, connection: whose.connections[connection]?.id })),
    ),
    whose.accountId,
  );
  return events;
}

const days = 4;
const vehicles = [newId(), newId()];
const seed = fc.record({
  startedAt: fc.tuple(fc.nat(days - 1), fc.nat(5)).map(([day, at]) => day * dayMs + at),
  risk: fc.integer({ min: 1, max: 5 }),
  vehicle: fc.constantFrom(...vehicles),
  connection: fc.nat(2),
});
const request = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  days: fc.tuple(fc.nat(days - 1), fc.nat(days - 1)).map(([a, b]) => [Math.min(a, b), Math.max(a, b) + 1]),
  descending: fc.boolean(),
  least: fc.option(fc.integer({ min: 2, max: 5 })),
  vehicle: fc.option(fc.constantFrom(...vehicles)),
});
const iso = (day = 0) => [new Date(day * dayMs).toISOString()];

describe('safety events of all connections', () => {
  it('are those of each connection put together, whatever is archived', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(seed, { maxLength: 60 }),
        fc.array(fc.record({ day: fc.nat(days - 1), connection: fc.nat(2) }), { maxLength: 4 }),
        fc.array(request, { minLength: 1, maxLength: 4 }),
        async (seeds, moving, requests) => {
          await emptyArchive();
          const events = await insert(us, seeds);
          await insert(
            them,
            seeds.map((one) => ({ ...one, connection: 0 })),
          );
          for (const { day, connection } of moving) {
            await move(us, day * dayMs, { kind: kindOf(safetyEvents), connection });
            await lapse();
          }
          for (const { limit, days, descending, least, vehicle } of requests) {
            const [from = 0, to = 0] = days;
            const wanted = events
              .filter(({ startedAt }) => startedAt >= from * dayMs && startedAt < to * dayMs)
              .filter((event) => event.risk >= (least ?? 1) && (!vehicle || event.vehicle === vehicle))
              .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
              .map(({ id }) => id);
            const query = {
              ...{ limit: [String(limit)], from: iso(from), to: iso(to) },
              ...(least && { minEventRisk: [String(least)] }),
              ...(vehicle && { vehicleIds: [vehicle] }),
            };
            for (const bindings of moving.length > 0 ? [env] : [env, withoutArchive]) {
              const { items } = await walk(bindings, caller, safetyEvents.list, { query, descending });
              const found = items.map((item) => (item as { id: string }).id); // of this list
              expect(found).toEqual(descending ? wanted.toReversed() : wanted);
            }
          }
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it('cost a few rows for each that is shown or looked through, however many there are', async () => {
    await emptyArchive();
    const seeds = Array.from({ length: 3000 }, (_, i) => ({
      startedAt: i,
      risk: 1 + (i % 5),
      connection: i % 3,
    }));
    for (let at = 0; at < seeds.length; at += 1000) await insert(us, seeds.slice(at, at + 1000));
    const page = async (query: Record<string, string[]>) => {
      const meter = metered();
      const range = { from: iso(0), to: iso(1), limit: ['50'] };
      const list = await readList(meter.env, caller, safetyEvents.list, {
        connectionId: undefined,
        query: { ...range, ...query },
        descending: true,
      });
      return { ...list, ...meter.cost };
    };
    const all = await page({});
    expect(all.items).toHaveLength(50);
    expect(all.trips).toBe(1);
    expect(all.read).toBeLessThanOrEqual(6 * 51 + 40);
    const rare = await page({ eventTypes: ['Railroad Crossing Violation'] });
    expect(rare.items).toEqual([]);
    expect(rare.next).toBeDefined();
    expect(rare.read).toBeLessThanOrEqual(15 * 1000);
  });
});
