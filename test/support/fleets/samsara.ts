import {
  fakeSamsara,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '../../../src/dev/fakes/samsara.ts';
import { dayMs } from '../../../src/platform/durations.ts';
import { samsaraData } from '../samsara.ts';
import { type Fleet, idsOf, longName, soon } from './fleet.ts';

let made = 0;

export function samsaraFleet(): Fleet {
  const now = Date.now();
  const data = samsaraData(`samsara_api_${made++}`);
  const { vehicles } = data;
  vehicles.push(samsaraVehicle(3));
  const vehicle = (n: number) => vehicles[n % vehicles.length] ?? {};
  data.drivers.push(...[1, 2, 3].map((n) => samsaraDriver(n)));
  data.trips.push(...[1, 2, 3, 4].map((n) => samsaraTrip(vehicle(n), now - n * dayMs)));
  for (const n of [1, 2, 3, 4, 5])
    data.events.push(samsaraEvent(vehicle(n), n === 2 ? 'Crash' : 'Braking', now - n * dayMs));
  let clock = now;
  const change = () => ({ updatedAtTime: new Date(clock++).toISOString() }); // each comes after those before
  return {
    provider: 'samsara',
    origin: 'https://api.samsara.com',
    credential: data.token,
    wrongCredential: 'samsara_api_wrong',
    serve: fakeSamsara(data, { perPage: 2 }),
    addVehicle: (n) => void vehicles.push(samsaraVehicle(n, change())),
    addBroken() {
      vehicles.push(
        samsaraVehicle(8, { name: longName }),
        samsaraVehicle(9, { make: 7, tags: 'none' }),
        null as never,
      );
      const speedingMetadata = { maxSpeedKilometersPerHour: -3 };
      data.events.push(samsaraEvent(vehicle(0), 'Speeding', soon(), { ...change(), speedingMetadata }));
    },
    addEvent(n, isCrash) {
      const event = samsaraEvent(vehicle(n), isCrash ? 'Crash' : 'Speeding', soon(n), change());
      data.events.push(event);
      return {
        sourceId: String(event.id),
        confirm: () => Object.assign(event, { eventState: 'reviewed' }, change()),
      };
    },
    known: () => ({
      vehicles: idsOf(data.vehicles),
      drivers: idsOf(data.drivers),
      trips: data.trips.map(
        ({ asset, tripStartTime }) => `${(asset as { id: string }).id}:${Date.parse(String(tripStartTime))}`,
      ),
      safety_events: idsOf(data.events),
    }),
  };
}
