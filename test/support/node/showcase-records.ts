import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { dayMs } from '../../../src/platform/durations.ts';

const iso = (at: number) => new Date(at).toISOString();

/** Words of Samsara, each as often as it comes up among a hundred. */
const words = [
  ['LightSpeeding', 26],
  ['Braking', 21],
  ['FollowingDistance', 16],
  ['HarshTurn', 10],
  ['NoSeatbelt', 8],
  ['MobileUsage', 7],
  ['Idling', 6],
  ['LaneDeparture', 4],
  ['Drowsy', 2],
].flatMap(([word, often]) => Array.from({ length: Number(often) }, () => String(word)));
const people = ['Imke Sandell', 'Teo Varga', 'Joss Arden', 'Petra Lindqvist', 'Odell Farrow', 'Ruan Meyer'];
/** Places that vehicles pass, as a provider names them. */
const places: [address: string, latitude: number, longitude: number][] = [
  ['I-76 E, Reading, PA', 40.3356, -75.9269],
  ['I-80 W, Clearfield, PA', 41.0273, -78.4392],
  ['I-81 N, Carlisle, PA', 40.215, -77.1893],
  ['I-81 N, Newville, PA', 40.1731, -77.3986],
  ['US-11, Scranton, PA', 41.409, -75.6624],
  ['I-83 S, York, PA', 39.9626, -76.7277],
  ['7th St, Harrisburg, PA', 40.2732, -76.8867],
  ['PA-61, Pottsville, PA', 40.6856, -76.1955],
  ['I-78 E, Allentown, PA', 40.6023, -75.4714],
  ['Market St, Wilkes-Barre, PA', 41.2459, -75.8813],
  ['I-99 N, Altoona, PA', 40.5187, -78.3947],
];

/** Two months of a small fleet, up to `now`: the same each time. Its events come last, the newest first among these. */
export function showcaseRecords(now: number): { fleet: object[]; events: object[]; accidents: object[] } {
  const generator = xoroshiro128plus(18);
  const random = () => uniformFloat64(generator);
  const pick = (count: number) => Math.floor(random() * count);
  /** Some come up more often than others. */
  const often = (count: number) => Math.floor(random() ** 1.8 * count);
  const place = (at = pick(places.length)) => {
    const [address, latitude, longitude] = places[at % places.length] as (typeof places)[number];
    const aside = () => (random() - 0.5) / 12;
    return { latitude: latitude + aside(), longitude: longitude + aside(), address };
  };
  const word = () => words[pick(words.length)] ?? 'Braking';
  /** Fewer trucks are out at a weekend, and at night, on the east coast of the USA. */
  const isOut = (at: number) => {
    const local = new Date(at - 5 * 3_600_000);
    const [day, hour] = [local.getUTCDay(), local.getUTCHours()];
    return random() < (day === 0 || day === 6 ? 0.45 : 1) * (hour > 5 && hour < 23 ? 1 : 0.25);
  };

  const vehicles = Array.from({ length: 24 }, (_, i) => ({
    kind: 'vehicle',
    sourceId: `v${i}`,
    name: `${i % 3 ? 'Truck' : 'Van'} ${100 + 7 * i}`,
    vin: `1FUJGLDR5CLBP8${String(i).padStart(3, '0')}`,
    groups: [i % 3 ? 'Line haul' : 'City'],
    ...(i % 3
      ? { make: 'Freightliner', model: 'Cascadia', fuelType: 'diesel' }
      : { make: 'Ford', model: 'E-Transit', fuelType: 'electric' }),
    year: 2020 + (i % 5),
    licensePlate: `ZKT-${1000 + i}`,
    odometerKm: 90_000 + 7777 * i,
    ...(i === 9 && { status: 'inactive' }),
    lastLocation: { ...place(), timestamp: iso(now - i * 60_000) },
  }));
  const drivers = people.map((name, i) => ({
    kind: 'driver',
    sourceId: `d${i}`,
    name,
    email: `${name.split(' ')[0]?.toLowerCase()}@quillmoor.example`,
    ...(i !== 4 && { phone: `+1 717 555 01${10 + i}` }),
    licenseState: 'PA',
    licenseNumber: `99-${100 + i}-4${i}67`,
    ...(i === 5 && { status: 0 }),
  }));
  const trips = Array.from({ length: 60 }, (_, i) => ({
    kind: 'trip',
    sourceId: `t${i}`,
    vehicle: `v${i % 24}`,
    driver: `d${i % 6}`,
    startedAt: iso(now - i * 0.9 * dayMs - 7_200_000),
    endedAt: iso(now - i * 0.9 * dayMs - 600_000),
    startLocation: place(i),
    endLocation: place(i + 3),
    distanceKm: 60 + (i % 9) * 12,
    durationSeconds: 6600,
  }));
  const times = Array.from({ length: 1600 }, (_, i) => now - (i + random()) * ((60 * dayMs) / 1600)).filter(
    isOut,
  );
  const events = times.map((at, i) => {
    const incident = word();
    const limit = [50, 80, 90, 105][pick(4)] ?? 80;
    return {
      kind: 'safetyEvent',
      sourceId: `e${i}`,
      vehicle: `v${often(24)}`,
      ...(i % 8 && { driver: `d${often(6)}` }),
      ...(i < 60 && { trip: `t${i}` }),
      incidentTypes: [at < now - dayMs && random() < 0.006 ? 'Crash' : incident],
      startedAt: iso(at),
      ...(i % 9 && { location: place() }),
      maxSpeedKph:
        incident === 'LightSpeeding' ? limit + 6 + pick(18) : Math.round(limit * (0.5 + random() / 2)),
      speedLimitKph: limit,
    };
  });
  const accidents = [1, 2, 3, 2].map((notificationLevel, i) => ({
    kind: 'accident',
    sourceId: `a${i}`,
    vin: `1FUJGLDR5CLBP8${String(3 * i + 1).padStart(3, '0')}`,
    eventTime: iso(now - i * 5_000_000 - 900_000),
    location: place(i + 6),
    notificationLevel,
    ...(notificationLevel === 3 && { reportUrl: 'https://reports.example.com/crash' }),
    ...(i === 3 && { dismissed: true }),
  }));
  return { fleet: [...vehicles, ...drivers, ...trips], events, accidents };
}

/** An accident through its three levels, one after the other, and what its vehicle did before it. */
export function accidentStory(now: number): { before: object[]; levels: object[] } {
  const at = (minutesBefore: number) => iso(now - 2_400_000 - minutesBefore * 60_000);
  const on = { vehicle: 'v2', driver: 'd2', trip: 'story' };
  const event = (sourceId: string, minutesBefore: number, word: string, speed: number) => ({
    ...{ kind: 'safetyEvent', sourceId, ...on, incidentTypes: [word], startedAt: at(minutesBefore) },
    location: {
      latitude: 40.215 - minutesBefore / 250,
      longitude: -77.189 - minutesBefore / 160,
      address: minutesBefore > 20 ? 'I-81 N, Shippensburg, PA' : 'I-81 N, Newville, PA',
    },
    ...{ maxSpeedKph: speed, speedLimitKph: 105 },
  });
  const carlisle = { latitude: 40.21502, longitude: -77.18934, address: 'I-81 N near Carlisle, PA' };
  const level = (notificationLevel: number) => ({
    ...{ kind: 'accident', sourceId: 'story', vin: '1FUJGLDR5CLBP8002', eventTime: at(0), notificationLevel },
    location: carlisle,
    ...(notificationLevel === 3 && { reportUrl: 'https://reports.example.com/crash-114' }),
  });
  return {
    before: [
      {
        ...{
          kind: 'trip',
          sourceId: 'story',
          vehicle: 'v2',
          driver: 'd2',
          startedAt: at(104),
          distanceKm: 50,
        },
        startLocation: { latitude: 39.9376, longitude: -77.6611, address: 'Chambersburg, PA' },
      },
      event('s1', 56, 'LightSpeeding', 119),
      event('s2', 27, 'FollowingDistance', 98),
      event('s3', 11, 'MobileUsage', 104),
      event('s4', 1, 'Braking', 98),
    ],
    levels: [level(1), level(2), level(3)],
  };
}
