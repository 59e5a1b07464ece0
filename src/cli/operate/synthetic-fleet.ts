import { once } from 'node:events';
import { Command } from 'commander';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts';
import { wholeNumber } from './context.ts';

/** The size of the fleet, its first day (`YYYY-MM-DD`), and the random seed. */
export type FleetOptions = { vehicles: number; days: number; start: string; seed: number };

type Place = { latitude: number; longitude: number };

const depots: [town: string, latitude: number, longitude: number][] = [
  ['Denver', 39.7392, -104.9903],
  ['Colorado Springs', 38.8339, -104.8214],
  ['Fort Collins', 40.5853, -105.0844],
  ['Pueblo', 38.2544, -104.6091],
];
const models: [make: string, model: string, fuelType: string][] = [
  ['Freightliner', 'Cascadia', 'diesel'],
  ['Ford', 'E-Transit', 'electric'],
  ['Mercedes-Benz', 'Sprinter', 'diesel'],
];
/** Incidents per 100,000 km. */
const incidents = Object.entries({
  Speeding: 140,
  'Harsh Braking': 90,
  'Hard Cornering': 50,
  Tailgating: 40,
  'Phone Usage': 20,
  'Seat Belt Violation': 10,
  'Near Crash': 3,
  Crash: 1,
}).flatMap(([type, count]) => Array<string>(count).fill(type));

export function generateCommand(): Command {
  return new Command('generate')
    .description('Print realistic test records as NDJSON; the same options give the same records')
    .option('--vehicles <count>', 'number of vehicles', wholeNumber(1, 100_000), 20)
    .option('--days <count>', 'number of days', wholeNumber(1, 3650), 7)
    .option('--start <date>', 'first day', '2026-10-01')
    .option('--seed <number>', 'seed; each gives another fleet', wholeNumber(1, 2 ** 31), 1)
    .action(async (options: FleetOptions) => {
      process.stdout.on('error', () => process.exit()); // the reader has closed the pipe
      for (const record of generateFleet(options))
        if (!process.stdout.write(`${JSON.stringify(record)}\n`)) await once(process.stdout, 'drain');
    });
}

/**
 * Yields the records of a made-up fleet: drivers and vehicles, then for each day the trips of their shifts, each
 * starting where the previous one ended, with incidents on the way. Equal options give equal records.
 */
export function* generateFleet({ vehicles, days, start, seed }: FleetOptions): Generator<object> {
  const generator = xoroshiro128plus(seed);
  const random = () => uniformFloat64(generator);
  const between = (low: number, high: number) => low + random() * (high - low);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T; // never empty
  const round = (value: number, digits: number) => Number(value.toFixed(digits));
  const time = (ms: number) => new Date(Math.round(ms / 1000) * 1000).toISOString();
  const first = Date.parse(`${start}T00:00:00Z`);

  const fleet = Array.from({ length: vehicles }, (_, index) => {
    const [town, latitude, longitude] = pick(depots);
    const number = String(index + 1).padStart(4, '0');
    return { number, town, depot: { latitude, longitude }, shiftStart: between(12, 16) };
  });
  for (const { number } of fleet)
    yield {
      ...{ kind: 'driver', sourceId: `driver-${number}`, name: `Driver ${number}` },
      ...{ email: `driver-${number}@fleet.example`, licenseState: 'CO', licenseNumber: number },
    };
  for (const { number, town } of fleet) {
    const [make, model, fuelType] = pick(models);
    yield {
      ...{ kind: 'vehicle', sourceId: `vehicle-${number}`, name: `${town} ${number}`, groups: [town] },
      ...{ vin: `1FD${number.padStart(14, '0')}`, licensePlate: `FL-${number}`, make, model, fuelType },
      year: 2018 + Math.floor(random() * 8),
      odometerKm: round(between(5_000, 400_000), 1),
    };
  }

  for (let date = 0; date < days; date++) {
    const midnight = first + date * dayMs;
    const weekend = [0, 6].includes(new Date(midnight).getUTCDay());
    for (const { number, depot, shiftStart } of fleet) {
      if (random() < (weekend ? 0.75 : 0.08)) continue; // off the road
      const driven = { vehicle: `vehicle-${number}`, driver: `driver-${number}` };
      let at = midnight + shiftStart * hourMs + between(-20, 20) * minuteMs;
      let here: Place = depot;
      const trips = Math.round(between(3, 7));
      for (let trip = 1; trip <= trips; trip++) {
        const there = trip === trips ? depot : away(depot, between(2, 60), random() * 2 * Math.PI);
        const distanceKm = straightKm(here, there) * between(1.15, 1.45) + 0.5;
        const minutes = (distanceKm / between(35, 75)) * 60 + between(2, 8);
        const tripId = `trip-${number}-${date}-${trip}`;
        yield {
          ...{ kind: 'trip', sourceId: tripId, ...driven, startLocation: here, endLocation: there },
          startedAt: time(at),
          endedAt: time(at + minutes * minuteMs),
          distanceKm: round(distanceKm, 2),
          durationSeconds: Math.round(minutes * 60),
        };
        const expected = (distanceKm / 100_000) * incidents.length;
        for (let incident = 0; random() < expected / (incident + 1); incident++) {
          const share = random();
          const speedLimitKph = pick([50, 70, 90, 110]);
          yield {
            ...{ kind: 'safetyEvent', sourceId: `event-${tripId}-${incident}`, ...driven, trip: tripId },
            incidentTypes: [pick(incidents)],
            startedAt: time(at + share * minutes * minuteMs),
            location: {
              latitude: round(here.latitude + (there.latitude - here.latitude) * share, 5),
              longitude: round(here.longitude + (there.longitude - here.longitude) * share, 5),
            },
            maxSpeedKph: round(speedLimitKph * between(0.7, 1.25), 1),
            speedLimitKph,
          };
        }
        at += (minutes + between(10, 45)) * minuteMs;
        here = there;
      }
    }
  }
}

/** The place `km` away in a direction (radians from north). */
const away = ({ latitude, longitude }: Place, km: number, direction: number): Place => ({
  latitude: Number((latitude + (km / 111) * Math.cos(direction)).toFixed(5)),
  longitude: Number((longitude + (km / 85) * Math.sin(direction)).toFixed(5)),
});

const straightKm = (a: Place, b: Place): number =>
  Math.hypot((a.latitude - b.latitude) * 111, (a.longitude - b.longitude) * 85);
