import { beforeAll, expect, it, vi } from 'vitest';
import {
  fakeTerminal,
  type TerminalData,
  terminalDriver,
  terminalEvent,
  terminalGroup,
  terminalRaw,
  terminalTrip,
  terminalVehicle,
} from '../../src/dev/fakes/terminal.ts';
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

const review = (state: string) =>
  terminalRaw('samsara', { eventState: state, behaviorLabels: [{ label: 'Crash', source: 'automated' }] });

/** Three vehicles with a week of history; then events, of which each third is a crash that is confirmed later. */
function terminalFleet(): Fleet {
  const now = Date.now();
  const group = terminalGroup(1, 'Yard 1');
  const vehicles = [1, 2, 3].map((n) => terminalVehicle(n, { groups: [group.id] }));
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  const data: TerminalData = {
    company: 'Example Haulage',
    secretKey: 'sk_prod_1',
    connectionToken: `con_tkn_${made++}`,
    vehicles,
    drivers: [1, 2, 3].map((n) => terminalDriver(n)),
    groups: [group],
    trips: [1, 2, 3, 4].map((n) => terminalTrip(vehicle(n), n, now - n * day)),
    events: [1, 2, 3, 4, 5].map((n) =>
      terminalEvent(vehicle(n), n === 2 ? 'crash' : 'harsh_brake', n, now - n * day, {
        raw: [review('reviewed')],
      }),
    ),
  };
  const fresh: { event: { [field: string]: unknown }; levels: number }[] = [];
  let clock = now;
  const taken = () => {
    const at = new Date(clock++).toISOString(); // each change comes after those before
    return { addedAt: at, modifiedAt: at };
  };
  return {
    provider: 'terminal',
    credential: JSON.stringify({ secretKey: data.secretKey, connectionToken: data.connectionToken }),
    origin: 'https://api.withterminal.com',
    serve: fakeTerminal(data, { perPage: 2 }),
    happen(n) {
      const isCrash = n % 3 === 0;
      const event = terminalEvent(
        vehicle(n),
        isCrash ? 'crash' : 'speeding',
        10 + n,
        Date.now() + 1_000 + n,
        {
          metadata: taken(),
          raw: [review('needsReview')],
        },
      );
      data.events.push(event);
      if (n === 1) vehicles.push(terminalVehicle(4, { metadata: taken() }));
      fresh.push({ event, levels: isCrash ? 1 : 0 });
      const before = fresh[n - 1];
      if (before?.levels !== 1) return;
      Object.assign(before.event, { metadata: taken(), raw: [review('coached')] });
      before.levels = 2;
    },
    known: () => ({
      vehicles: data.vehicles.map(({ id }) => String(id)),
      drivers: data.drivers.map(({ id }) => String(id)),
      trips: data.trips.map(({ id }) => String(id)),
      safety_events: data.events.map(({ id }) => String(id)),
    }),
    told: () =>
      fresh.flatMap(({ event: { id }, levels }) => [
        { kind: 'safetyEvent' as const, sourceId: String(id), level: 0 },
        ...Array.from({ length: levels }, (_, i) => ({
          kind: 'accident' as const,
          sourceId: String(id),
          level: i + 1,
        })),
      ]),
  };
}

it('whatever fails at Terminal or with us, all is there in the end, and is told once', async () => {
  await proveExactlyOnce(
    () => us,
    () => hooks,
    terminalFleet,
  );
  expect(made).toBeGreaterThan(5);
}, 600_000);
