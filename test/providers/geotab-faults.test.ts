import { beforeAll, expect, it, vi } from 'vitest';
import { fakeGeotab, geotabCredential, geotabDatabase } from '../../src/dev/fakes/geotab.ts';
import {
  geotabChange,
  geotabDevice,
  geotabException,
  geotabPosition,
  geotabTrip,
  geotabUser,
} from '../../src/dev/fakes/geotab-items.ts';
import { type Fleet, proveExactlyOnce } from '../support/provider-faults.ts';
import { receiver } from '../support/receiver.ts';
import { type World, world } from '../support/world.ts';

const day = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();

let us: World;
let hooks: ReturnType<typeof receiver>;
beforeAll(async () => {
  hooks = receiver();
  us = await world();
  vi.spyOn(console, 'error').mockImplementation(() => {}); // isolates that die say so
  return () => vi.restoreAllMocks();
});

let made = 0;

/**
 * Three vehicles with a week of history; then events, of which each third is a collision that is old enough later to be
 * taken for confirmed. Each second time all sessions end.
 */
function geotabFleet(): Fleet {
  const now = Date.now();
  const data = geotabDatabase(`acme${made++}`);
  data.devices.push(...[1, 2, 3].map((n) => geotabDevice(n)));
  data.users.push(...[1, 2, 3].map((n) => geotabUser(n)));
  const device = (n: number) => data.devices[n % 3] ?? {};
  data.trips.push(...[1, 2, 3, 4].map((n) => geotabTrip(device(n), now - n * day)));
  const happens = (n: number, isCrash: boolean, at: number) => {
    const rule = isCrash ? 'RuleEnhancedMajorCollisionId' : 'RuleHarshBrakingId';
    const event = geotabException(device(n), rule, at);
    data.exceptions.push(event);
    data.positions.push(geotabPosition(device(n), at));
    return event;
  };
  for (const n of [1, 2, 3, 4, 5]) happens(n, n === 2, now - n * day);
  const fresh: { event: ReturnType<typeof happens>; isCrash: boolean; level: number }[] = [];
  const ids = (items: { [field: string]: unknown }[]) => items.map(({ id }) => String(id));
  return {
    provider: 'geotab',
    credential: geotabCredential(data),
    origin: 'https://my.geotab.com',
    serve: fakeGeotab(data, { perPage: 2 }),
    happen(n) {
      const isCrash = n % 3 === 0;
      fresh.push({ event: happens(n, isCrash, Date.now() + 1_000 + n), isCrash, level: 1 });
      if (n === 1) data.devices.push(geotabDevice(4));
      if (n % 2 === 1) data.sessions.clear();
      const before = fresh[n - 1];
      if (!before?.isCrash) return;
      const later = iso(Date.parse(String(before.event.lastModifiedDateTime)) + 1);
      geotabChange(before.event, { createdDateTime: iso(now - day), lastModifiedDateTime: later });
      before.level = 2;
    },
    known: () => ({
      vehicles: ids(data.devices),
      drivers: ids(data.users),
      trips: ids(data.trips),
      safety_events: ids(data.exceptions),
    }),
    told: () =>
      fresh.flatMap(({ event, isCrash, level }) => {
        const sourceId = String(event.id);
        const levels = isCrash ? Array.from({ length: level }, (_, i) => i + 1) : [];
        return [
          { kind: 'safetyEvent' as const, sourceId, level: 0 },
          ...levels.map((one) => ({ kind: 'accident' as const, sourceId, level: one })),
        ];
      }),
  };
}

it('whatever fails at Geotab or with us, all is there in the end, and is told once', async () => {
  await proveExactlyOnce(
    () => us,
    () => hooks,
    geotabFleet,
  );
  expect(made).toBeGreaterThan(5);
}, 600_000);
