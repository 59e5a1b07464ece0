import { once } from 'node:events';
import { Command } from 'commander';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts';
import { wholeNumber } from './context.ts';

/** The size of the fleet, its first day (`YYYY-MM-DD`), and the random seed. */
export type FleetOptions = { vehicles: number; days: number; start: string; seed: number };

const depots = [
  { town: 'Denver', latitude: 39.7392, longitude: -104.9903 },
  { town: 'Colorado Springs', latitude: 38.8339, longitude: -104.8214 },
  { town: 'Pueblo', latitude: 38.2544, longitude: -104.6091 },
];
const models = [
  { make: 'Freightliner', model: 'Cascadia', fuelType: 'diesel' },
  { make: 'Ford', model: 'E-Transit', fuelType: 'electric' },
];
/** Incidents per 100,000 km. */
const incidents = Object.entries({
  Speeding: 140,
  'Harsh Braking': 90,
  'Hard Cornering': 50,
  Tailgating: 40,
  'Phone Usage': 20,
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
  const between = (low: number, high: number) => low + uniformFloat64(generator) * (high - low);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(between(0, values.length))] as T; // never empty
  const time = (ms: number) => new Date(Math.round(ms / 1000) * 1000).toISOString();
  const place = (latitude: number, longitude: number) => ({
    latitude: rounded(latitude, 5),
    longitude: rounded(longitude, 5),
  });

  const fleet = Array.from({ length: vehicles }, (_, index) => ({
    number: String(index + 1).padStart(4, '0'),
    depot: pick(depots),
    shiftStart: between(12, 16) * hourMs,
  }));
  for (const { number } of fleet)
    yield { kind: 'driver', sourceId: `driver-${number}`, name: `Driver ${number}`, licenseState: 'CO' };
  for (const { number, depot } of fleet)
    yield {
      ...{ kind: 'vehicle', sourceId: `vehicle-${number}`, name: `${depot.town} ${number}` },
      ...{ groups: [depot.town], vin: `1FD${number.padStart(14, '0')}`, licensePlate: `FL-${number}` },
      ...pick(models),
      year: Math.floor(between(2018, 2026)),
      odometerKm: rounded(between(5_000, 400_000), 1),
    };

  for (let date = 0; date < days; date++) {
    const midnight = Date.parse(start) + date * dayMs;
    const weekend = [0, 6].includes(new Date(midnight).getUTCDay());
    for (const { number, depot, shiftStart } of fleet) {
      if (between(0, 1) < (weekend ? 0.75 : 0.08)) continue; // off the road
      const driven = { vehicle: `vehicle-${number}`, driver: `driver-${number}` };
      const home = place(depot.latitude, depot.longitude);
      const trips = Math.round(between(3, 7));
      let at = midnight + shiftStart + between(-20, 20) * minuteMs;
      let here = home;
      for (let trip = 1; trip <= trips; trip++) {
        const { latitude, longitude } = home;
        const there =
          trip === trips ? home : place(latitude + between(-0.4, 0.4), longitude + between(-0.4, 0.4));
        const [north, east] = [there.latitude - here.latitude, there.longitude - here.longitude];
        const distanceKm = Math.hypot(north * 111, east * 85) * between(1.15, 1.45) + 0.5;
        const ms = (distanceKm / between(35, 75)) * hourMs + between(2, 8) * minuteMs;
        const tripId = `trip-${number}-${date}-${trip}`;
        yield {
          ...{ kind: 'trip', sourceId: tripId, ...driven, startLocation: here, endLocation: there },
          ...{ startedAt: time(at), endedAt: time(at + ms), distanceKm: rounded(distanceKm, 2) },
          durationSeconds: Math.round(ms / 1000),
        };
        const expected = (distanceKm / 100_000) * incidents.length;
        for (let incident = 0; between(0, 1) < expected / (incident + 1); incident++) {
          const share = between(0, 1);
          const speedLimitKph = pick([50, 70, 90, 110]);
          yield {
            ...{ kind: 'safetyEvent', sourceId: `event-${tripId}-${incident}`, ...driven, trip: tripId },
            ...{ incidentTypes: [pick(incidents)], startedAt: time(at + share * ms) },
            location: place(here.latitude + north * share, here.longitude + east * share),
            ...{ maxSpeedKph: rounded(speedLimitKph * between(0.7, 1.25), 1), speedLimitKph },
          };
        }
        at += ms + between(10, 45) * minuteMs;
        here = there;
      }
    }
  }
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
