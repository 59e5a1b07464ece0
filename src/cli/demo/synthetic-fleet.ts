import { once } from 'node:events';
import { Command, InvalidArgumentError } from 'commander';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { dayMs, hourMs, minuteMs } from '../../core/platform/durations.ts';
import { wholeNumber } from '../operate/context.ts';

/** The size of the fleet, its first day (`YYYY-MM-DD`), and the random seed. */
type FleetOptions = { vehicles: number; days: number; start: string; seed: number };

const depots = [
  { town: 'Denver', latitude: 39.7392, longitude: -104.9903 },
  { town: 'Colorado Springs', latitude: 38.8339, longitude: -104.8214 },
  { town: 'Pueblo', latitude: 38.2544, longitude: -104.6091 },
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
    .option('--start <date>', 'first day', dayIn, '2026-10-01')
    .option('--seed <number>', 'seed; each gives another fleet', wholeNumber(1, 2 ** 31), 1)
    .action(async (options: FleetOptions) => {
      process.stdout.on('error', () => process.exit()); // the reader has closed the pipe
      for (const record of generateFleet(options))
        if (!process.stdout.write(`${JSON.stringify(record)}\n`))
          await once(process.stdout, 'drain');
    });
}

function dayIn(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw new InvalidArgumentError('It must be a date, such as 2026-10-01.');
}

/** The records of a made-up fleet, day by day: equal options give equal records. */
export function* generateFleet({ vehicles, days, start, seed }: FleetOptions): Generator<object> {
  const generator = xoroshiro128plus(seed);
  const between = (low: number, high: number) => low + uniformFloat64(generator) * (high - low);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(between(0, values.length))] as T; // never empty
  const around = ({ latitude, longitude }: Place, degrees: number) => ({
    latitude: rounded(latitude + between(-degrees, degrees), 5),
    longitude: rounded(longitude + between(-degrees, degrees), 5),
  });

  const fleet = Array.from({ length: vehicles }, (_, index) => ({
    number: String(index + 1).padStart(4, '0'),
    depot: pick(depots),
  }));
  for (const { number } of fleet)
    yield {
      kind: 'driver',
      sourceId: `driver-${number}`,
      name: `Driver ${number}`,
      licenseState: 'CO',
    };
  for (const { number, depot } of fleet)
    yield {
      ...{ kind: 'vehicle', sourceId: `vehicle-${number}`, name: `${depot.town} ${number}` },
      ...{
        groups: [depot.town],
        vin: `1FD${number.padStart(14, '0')}`,
        licensePlate: `FL-${number}`,
      },
      ...{ make: 'Freightliner', model: 'Cascadia', fuelType: 'diesel' },
      year: Math.floor(between(2018, 2026)),
      odometerKm: rounded(between(5_000, 400_000), 1),
    };

  for (let date = 0; date < days; date++)
    for (const { number, depot } of fleet) {
      const driven = { vehicle: `vehicle-${number}`, driver: `driver-${number}` };
      let at = Date.parse(start) + date * dayMs + between(12, 16) * hourMs;
      let here = around(depot, 0);
      for (let trip = 1; trip <= 5; trip++) {
        const tripId = `trip-${number}-${date}-${trip}`;
        const there = around(depot, 0.4);
        const distanceKm =
          130 * Math.hypot(there.latitude - here.latitude, there.longitude - here.longitude);
        const ms = (distanceKm / between(35, 75)) * hourMs + between(2, 8) * minuteMs;
        yield {
          ...{ kind: 'trip', sourceId: tripId, ...driven, startLocation: here, endLocation: there },
          ...{ startedAt: time(at), endedAt: time(at + ms), distanceKm: rounded(distanceKm, 2) },
          durationSeconds: Math.round(ms / 1000),
        };
        if (between(0, 100_000) < distanceKm * incidents.length)
          yield {
            ...{ kind: 'safetyEvent', sourceId: `event-${tripId}`, ...driven, trip: tripId },
            ...{
              incidentTypes: [pick(incidents)],
              startedAt: time(at + between(0, ms)),
              location: there,
            },
            ...{
              maxSpeedKph: rounded(between(50, 130), 1),
              speedLimitKph: pick([50, 70, 90, 110]),
            },
          };
        at += ms + between(10, 45) * minuteMs;
        here = there;
      }
    }
}

type Place = { latitude: number; longitude: number };

const time = (ms: number): string => new Date(Math.round(ms / 1000) * 1000).toISOString();

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
