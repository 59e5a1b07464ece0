import { beforeAll, expect, it, vi } from 'vitest';
import {
  fakeSamsara,
  type SamsaraData,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '../../src/dev/fakes/samsara.ts';
import { type Fleet, proveExactlyOnce } from '../support/provider-faults.ts';
import { receiver } from '../support/receiver.ts';
import { type World, world } from '../support/world.ts';

let us: World;
let hooks: ReturnType<typeof receiver>;
beforeAll(async () => {
  hooks = receiver();
  us = await world();
  vi.spyOn(console, 'error').mockImplementation(() => {}); // isolates that die say so
  return () => vi.restoreAllMocks();
});

let made = 0;

/** Three vehicles with a week of history; then events, of which each third is a crash that is confirmed later. */
function samsaraFleet(): Fleet {
  const now = Date.now();
  const vehicles = [1, 2, 3].map((n) => samsaraVehicle(n));
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  const data: SamsaraData = {
    organisation: 'Acme Trucking',
    token: `samsara_api_${made++}`,
    vehicles,
    drivers: [1, 2, 3].map((n) => samsaraDriver(n)),
    trips: [1, 2, 3, 4].map((n) => samsaraTrip(vehicle(n), now - n * 86_400_000)),
    events: [1, 2, 3, 4, 5].map((n) =>
      samsaraEvent(vehicle(n), n === 2 ? 'Crash' : 'Braking', now - n * 86_400_000),
    ),
  };
  const fresh: { event: ReturnType<typeof samsaraEvent>; crash: boolean; level: number }[] = [];
  const serve = fakeSamsara(data, { perPage: 2 });
  let clock = now;
  const updatedAtTime = () => new Date(clock++).toISOString(); // each change comes after those before
  return {
    provider: 'samsara',
    credential: data.token,
    origin: 'https://api.samsara.com',
    serve,
    happen(n) {
      const crash = n % 3 === 0;
      const event = samsaraEvent(vehicle(n), crash ? 'Crash' : 'Speeding', Date.now() + 1_000 + n, {
        updatedAtTime: updatedAtTime(),
      });
      data.events.push(event);
      if (n === 1) vehicles.push(samsaraVehicle(4, { updatedAtTime: updatedAtTime() }));
      fresh.push({ event, crash, level: 1 });
      const before = fresh[n - 1];
      if (!before?.crash) return;
      Object.assign(before.event, {
        eventState: 'reviewed',
        updatedAtTime: updatedAtTime(),
      });
      before.level = 2;
    },
    known: () => ({
      vehicles: data.vehicles.map(({ id }) => String(id)),
      drivers: data.drivers.map(({ id }) => String(id)),
      trips: data.trips.map(
        ({ asset, tripStartTime }) => `${(asset as { id: string }).id}:${Date.parse(String(tripStartTime))}`,
      ),
      safety_events: data.events.map(({ id }) => String(id)),
    }),
    told: () =>
      fresh.flatMap(({ event, crash, level }) => {
        const sourceId = String(event.id);
        const levels = crash ? Array.from({ length: level }, (_, i) => i + 1) : [];
        return [
          { kind: 'safetyEvent' as const, sourceId, level: 0 },
          ...levels.map((one) => ({ kind: 'accident' as const, sourceId, level: one })),
        ];
      }),
  };
}

it('whatever fails at Samsara or with us, all is there in the end, and is told once', async () => {
  await proveExactlyOnce(
    () => us,
    () => hooks,
    samsaraFleet,
  );
  expect(made).toBeGreaterThan(5);
}, 600_000);
