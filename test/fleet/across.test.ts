import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { safetyEvents } from '../../src/fleet/lists/safety-events.ts';
import { readList } from '../../src/fleet/service.ts';
import type { Caller } from '../../src/platform/db/guard.ts';
import { newId } from '../../src/platform/db/ids.ts';
import { dayMs } from '../../src/platform/durations.ts';
import { emptyArchive, kindOf, move, walk, withoutArchive } from '../support/archive.ts';
import { rows } from '../support/rows.ts';
import { metered } from '../support/runtime/meter.ts';
import { type World, worldBefore } from '../support/world.ts';

const us = worldBefore(beforeAll, { providers: ['motive', 'samsara', 'geotab'] });
const them = worldBefore(beforeAll);
const caller: Caller = us;

const vehicle = newId();
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

const iso = (day = 0) => [new Date(day * dayMs).toISOString()];
const query = { from: iso(0), to: iso(3), limit: ['7'] };

describe('safety events of all connections', () => {
  it.each<[string, Record<string, string[]>, boolean, (seed: Seed) => boolean]>([
    ['oldest first', {}, false, () => true],
    ['newest first', {}, true, () => true],
    ['of a risk', { minEventRisk: ['4'] }, false, ({ risk }) => risk >= 4],
    ['of a vehicle', { vehicleIds: [vehicle] }, true, (seed) => seed.vehicle === vehicle],
  ])(
    'are those of each connection put together, %s, also when archived',
    async (_, more, descending, passes) => {
      await emptyArchive();
      const seeds = Array.from({ length: 60 }, (_, i) => ({
        startedAt: (i % 3) * dayMs + Math.floor(i / 6),
        risk: 1 + (i % 5),
        vehicle: i % 4 === 0 ? vehicle : newId(),
        connection: i % 2 === 0 ? 0 : 1 + (i % 3 === 0 ? 1 : 0),
      }));
      const events = await insert(us, seeds);
      await insert(
        them,
        seeds.map((one) => ({ ...one, connection: 0 })),
      );
      const wanted = events
        .filter(passes)
        .sort((a, b) => a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1))
        .map(({ id }) => id);
      const expected = descending ? wanted.toReversed() : wanted;
      const listed = async (bindings: Env) =>
        (
          await walk(bindings, caller, safetyEvents.list, { query: { ...query, ...more }, descending })
        ).items.map((item) => (item as { id: string }).id); // of this list
      expect(await listed(withoutArchive)).toEqual(expected);
      for (const [day, connection] of [
        [0, 0],
        [1, 1],
        [1, 2],
      ] as const)
        await move(us, day * dayMs, { kind: kindOf(safetyEvents), connection });
      expect(await listed(env)).toEqual(expected);
    },
  );

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
