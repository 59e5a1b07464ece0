import {
  fakeSamsara,
  type SamsaraData,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '#src/dev/fakes/samsara.ts';
import type { receiver } from '#test/support.ts';
import { add, fleetOf, type Item, iso, shownPlace } from './fleet.ts';

type Fault = (url: URL) => Response | undefined | Promise<undefined>;

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
export function samsara(hooks: ReturnType<typeof receiver>) {
  const data = samsaraData();
  const provider = { data, calls: [] as URL[], fault: undefined as Fault | undefined };
  const serve = fakeSamsara(data, { perPage: 400 });
  hooks.serves(samsaraOrigin, async (request) => {
    const url = new URL(request.url);
    provider.calls.push(url);
    return (await provider.fault?.(url)) ?? serve(request);
  });
  return provider;
}

let made = 0;

export function samsaraFleet(perPage?: number) {
  const data = { ...samsaraData(`samsara_api_${made++}`), vehicles: [] as Item[] };
  let clock = Date.now(); // each change comes after those before
  return fleetOf({
    provider: 'samsara',
    origin: samsaraOrigin,
    credential: data.token,
    wrongCredential: 'samsara_api_wrong',
    serve: fakeSamsara(data, perPage ? { perPage } : {}),
    asked: ['/safety-events/stream'],
    vehicle: (n) => add(data.vehicles, samsaraVehicle(n)),
    // Those who are not active are another list.
    driver: (n) =>
      add(
        data.drivers,
        samsaraDriver(n, { driverActivationStatus: n === 2 ? 'deactivated' : 'active' }),
      ),
    trip: (vehicle, at) => add(data.trips, samsaraTrip(vehicle, at)),
    event: (vehicle, at, isCrash, more) =>
      add(data.events, samsaraEvent(vehicle, isCrash ? 'Crash' : 'Braking', at, more)),
    changed: () => ({ updatedAtTime: iso(clock++) }),
    confirmed: { eventState: 'reviewed' },
    dismissed: { eventState: 'dismissed', dismissalReason: { code: 'incorrect' } },
    movedTo: (latitude) => ({ location: { latitude, longitude: -104.9 } }),
    sourceIdOf: ({ id, asset, tripStartTime }) =>
      String(id ?? `${(asset as Item).id}:${Date.parse(String(tripStartTime))}`),
    shown: {
      organisation: 'Acme Trucking',
      vehicles: {
        vin: '1FUJGLDR5CL100001',
        make: 'Freightliner',
        year: 2022,
        licensePlate: 'PLT-1',
        groups: ['North'],
        status: 'active',
      },
      drivers: { name: 'Robin Reyes 2', licenseNumber: '99-2', status: 0 },
      trips: {
        startLocation: shownPlace(39.7392, -104.9903),
        endLocation: shownPlace(39.75, -104.87),
        durationSeconds: 1800,
      },
      events: {
        translatedIncidentTypes: ['Harsh Braking'],
        vehicleName: 'Truck 2',
        location: shownPlace(39.7392, -104.9903, '1437 Bannock Street, Denver, Colorado'),
      },
    },
  });
}
