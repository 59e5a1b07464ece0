import {
  fakeSamsara,
  type SamsaraData,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '#src/dev/fakes/samsara.ts';
import type { receiver } from '#test/support/receiver.ts';
import { add, type Fleet, type Item, idsOf, iso, soon } from './fleet.ts';

type Fault = (path: string) => Response | undefined;

/** Where Samsara is, and a token that the fake takes. */
export const samsaraOrigin = 'https://api.samsara.com';
export const samsaraToken = 'samsara_api_made_up_1';

/** A Samsara with two vehicles, and nothing that happened yet. */
export const samsaraData = (token = samsaraToken): SamsaraData => ({
  organisation: 'Acme Trucking',
  token,
  vehicles: [samsaraVehicle(1), samsaraVehicle(2)],
  drivers: [],
  trips: [],
  events: [],
});

/** Stands in for Samsara: tests change its `data`, and let calls fail by `fault`. */
export function samsara(
  hooks: ReturnType<typeof receiver>,
  { perPage = 100 }: { perPage?: number } = {},
) {
  const data = samsaraData();
  const provider = { data, calls: [] as URL[], fault: undefined as Fault | undefined };
  const serve = fakeSamsara(data, { perPage });
  hooks.serves(samsaraOrigin, (request) => {
    const url = new URL(request.url);
    provider.calls.push(url);
    return provider.fault?.(url.pathname) ?? serve(request);
  });
  return provider;
}

let made = 0;

export function samsaraFleet(perPage?: number): Fleet {
  const data = { ...samsaraData(`samsara_api_${made++}`), vehicles: [] as Item[] };
  const { vehicles } = data;
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  let clock = Date.now();
  const change = () => ({ updatedAtTime: iso(clock++) }); // each comes after those before
  return {
    provider: 'samsara',
    origin: samsaraOrigin,
    credential: data.token,
    wrongCredential: 'samsara_api_wrong',
    serve: fakeSamsara(data, perPage ? { perPage } : {}),
    asked: ['/safety-events/stream'],
    vehicle: (n) => add(vehicles, samsaraVehicle(n)),
    driver: (n) => add(data.drivers, samsaraDriver(n)),
    trip: (vehicle, _, at) => add(data.trips, samsaraTrip(vehicle, at)),
    event: (vehicle, _, at, isCrash, more) =>
      add(data.events, samsaraEvent(vehicle, isCrash ? 'Crash' : 'Braking', at, more)),
    addVehicle: (n) => void vehicles.push(samsaraVehicle(n, change())),
    addEvent(n, isCrash) {
      const event = samsaraEvent(vehicle(n), isCrash ? 'Crash' : 'Speeding', soon(n), change());
      data.events.push(event);
      return {
        sourceId: String(event.id),
        confirm: () => Object.assign(event, { eventState: 'reviewed' }, change()),
        move: (latitude) =>
          Object.assign(event, { location: { latitude, longitude: -104.9 } }, change()),
      };
    },
    setVin(n, vin) {
      const { id } = Object.assign(vehicle(n), { vin }, change());
      for (const { asset } of data.events)
        if ((asset as { id: unknown }).id === id) Object.assign(asset as object, { vin });
    },
    known: () => ({
      vehicles: idsOf(data.vehicles),
      drivers: idsOf(data.drivers),
      trips: data.trips.map(
        ({ asset, tripStartTime }) =>
          `${(asset as { id: string }).id}:${Date.parse(String(tripStartTime))}`,
      ),
      safety_events: idsOf(data.events),
    }),
  };
}
