import { beforeAll, expect, it, vi } from 'vitest';
import {
  fakeMotive,
  type MotiveData,
  motiveDriver,
  motiveEvent,
  motivePeriod,
  motiveSpeeding,
  motiveVehicle,
} from '../../src/dev/fakes/motive.ts';
import { type Fleet, proveExactlyOnce } from '../support/provider-faults.ts';
import { receiver } from '../support/receiver.ts';
import { type World, world } from '../support/world.ts';

const day = 86_400_000;

let us: World;
let hooks: ReturnType<typeof receiver>;
beforeAll(async () => {
  hooks = receiver();
  us = await world();
  vi.spyOn(console, 'error').mockImplementation(() => {}); // isolates that die say so
  return () => vi.restoreAllMocks();
});

let made = 0;

/** Three vehicles with a week of history; then events of both lists, of which each third is a crash, confirmed later. */
function motiveFleet(): Fleet {
  const now = Date.now();
  const vehicles = [1, 2, 3].map((n) => motiveVehicle(n, { group_ids: [1] }));
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  const data: MotiveData = {
    company: 'Sample Freight',
    key: `motive-key-${made++}`,
    dayBeginsAt: made % 24,
    vehicles,
    users: [1, 2, 3].map((n) => motiveDriver(n)),
    groups: [{ id: 1, name: 'Yard 1' }],
    periods: [1, 2, 3, 4].map((n) => motivePeriod(vehicle(n), now - n * day)),
    performance: [1, 2, 3, 4, 5].map((n) =>
      motiveEvent(vehicle(n), n === 2 ? 'crash' : 'hard_brake', now - n * day),
    ),
    speeding: [1, 2, 3].map((n) => motiveSpeeding(vehicle(n), now - n * day)),
  };
  const fresh: { sourceId: string; event: { [field: string]: unknown }; levels: number }[] = [];
  return {
    provider: 'motive',
    credential: data.key,
    origin: 'https://api.gomotive.com',
    serve: fakeMotive(data, made % 2 === 0 ? { perPage: 2 } : { saysTotal: false }),
    happen(n) {
      const at = Date.now() + 2_000 + n;
      const changedAt = new Date().toISOString();
      if (n % 3 === 2) {
        const event = motiveSpeeding(vehicle(n), at);
        data.speeding.push(event);
        fresh.push({ sourceId: `speeding:${event.id}`, event, levels: 0 });
      } else {
        const event = motiveEvent(vehicle(n), n % 3 === 0 ? 'crash' : 'cell_phone', at, { changedAt });
        data.performance.push(event);
        fresh.push({ sourceId: String(event.id), event, levels: n % 3 === 0 ? 1 : 0 });
      }
      if (n === 1) vehicles.push(motiveVehicle(4, { updated_at: changedAt }));
      const before = fresh[n - 1];
      if (before?.levels !== 1) return;
      Object.assign(before.event, { coaching_status: 'coachable', changedAt });
      before.levels = 2;
    },
    known: () => ({
      vehicles: data.vehicles.map(({ id }) => String(id)),
      drivers: data.users.map(({ id }) => String(id)),
      trips: data.periods.map(({ id }) => String(id)),
      safety_events: [
        ...data.performance.map(({ id }) => String(id)),
        ...data.speeding.map(({ id }) => `speeding:${id}`),
      ],
    }),
    told: () =>
      fresh.flatMap(({ sourceId, levels }) => [
        { kind: 'safetyEvent' as const, sourceId, level: 0 },
        ...Array.from({ length: levels }, (_, i) => ({
          kind: 'accident' as const,
          sourceId,
          level: i + 1,
        })),
      ]),
  };
}

it('whatever fails at Motive or with us, all is there in the end, and is told once', async () => {
  await proveExactlyOnce(
    () => us,
    () => hooks,
    motiveFleet,
  );
  expect(made).toBeGreaterThan(5);
}, 600_000);
