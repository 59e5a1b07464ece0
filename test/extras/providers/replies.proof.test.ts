// @module-tag proof
// More than 15 s: replies of many megabytes, and each detail of each record broken in many ways.
import { maxReplyBytes } from '#src/extras/providers/connector/call.ts';
import { recordId, rows, times } from '#test/support.ts';
import { type Fleet, type Item, soon } from './fleets/fleet.ts';
import { geotabFleet } from './fleets/geotab.ts';
import { motiveFleet } from './fleets/motive.ts';
import { samsaraFleet } from './fleets/samsara.ts';
import { terminalFleet, terminalRaw } from './fleets/terminal.ts';
import { providerStory } from './support.ts';

const link = (length = 1_400) => `https://media.example.com/${'a8Zq'.repeat(length / 4)}`;
const series = (length: number) => times(length, (n) => 36.1627 + n / 1e6);

/** So many events of a vehicle, the last of which that a page has is a crash. */
function large(fleet: Fleet, count: number, more: Item, crash = count - 1, everyMs = 1) {
  const [vehicle, at] = [fleet.vehicle(1), soon()];
  for (let n = 0; n < count; n++) fleet.event(vehicle, at + n * everyMs, n === crash, more);
  return { ...fleet, count };
}

const motive = (more: Item) => large(motiveFleet(), 100, more, 0, 1000);
const downloadable_videos = { ...times(23, () => link()) };
const links = times(4, (n) => ({ input: `camera${n}`, url: link() }));
// Its stream has no size of pages.
const samsara = () => large(samsaraFleet(400), 400, { media: links });
const record = { eventState: 'needsReview', media: links, trace: series(20_000) };
const terminal = () => large(terminalFleet(), 20, { raw: [terminalRaw('samsara', record)] });
const geotab = () => large(geotabFleet(), 60, { diagnostic: link() });

describe.each<[string, string, () => ReturnType<typeof large>, items?: RegExp]>([
  ['motive', 'series of measurements', () => motive({ m_gps_lat: series(4_000) })],
  [
    'motive',
    'signed links',
    () => motive({ camera_media: { available: true, downloadable_videos } }),
  ],
  ['samsara', 'signed links', samsara],
  ['terminal', "the providers' own records", terminal],
  ['geotab', 'positions of each exception', geotab],
  ['motive', 'more than is read of any reply', () => motive({}), /"driver_performance_event":/g],
  ['terminal', 'more than is read of any reply', terminal, /"startedAt"/g],
  ['geotab', 'more than is read of any reply', geotab, /"rule"/g],
])('%s, with %s', (provider, _, make, items) => {
  let fleet: ReturnType<typeof make>;
  const tale = providerStory(provider, () => fleet.credential);

  it('has a page read whole that is far too large as it is, and its crash notified', async () => {
    fleet = make();
    const { origin, serve, count } = fleet;
    let largest = 0;
    tale.hooks.serves(origin, async (request) => {
      const text = await (await serve(request)).text();
      largest = Math.max(largest, text.length);
      // As if half of its items were more than fit.
      const isTooLarge = items && (text.match(items) ?? []).length > count / 2;
      return new Response(isTooLarge ? text.padEnd(maxReplyBytes + 1) : text);
    });
    await tale.connect([1]);
    await tale.pullAll();
    if (!items) expect(largest).toBeGreaterThan(2 * 1024 * 1024);
    await tale.arrived(1);
    expect(await tale.events()).toHaveLength(count);
    expect(await tale.pullStatus()).toMatchObject({ refusals: [] });
    expect(await tale.problems()).toEqual([]);
  }, 60_000);
});

describe('an event that is too large even of what is needed', () => {
  const words = times(5_000, (n) => `Behavior number ${n}`);
  const fleet = motiveFleet();
  const tale = providerStory('motive', () => fleet.credential);

  it('is named with what was refused, and nothing beside it waits', async () => {
    tale.hooks.serves(fleet.origin, fleet.serve);
    await tale.connect([1]);
    const [truck, other] = [fleet.vehicle(1), fleet.vehicle(2)];
    const event = fleet.event(truck, soon(), true, { secondary_behaviors: words });
    fleet.event(other, soon(1000), true);
    await tale.pulled(1);
    const { refusals } = await tale.pullStatus();
    const reason = 'is too large to be read';
    expect(refusals).toMatchObject([{ kind: 'safetyEvent', sourceId: String(event.id), reason }]);
    // Once it can be read, it is; and while it cannot, it is not dismissed as one that has gone.
    fleet.change(event, { secondary_behaviors: [] });
    await tale.pulled(2);
    event.secondary_behaviors = words;
    await tale.pullAll();
    expect(await tale.accidents({ dismissed: 'true' })).toEqual([]);
  });
});

const badValues = [
  ...[' ', '\u0000', 'x'.repeat(5_000), '12 mph', null],
  ...[-1, 8.6e18, true, { nested: { deep: [1] } }, [[null]]],
];

/**
 * Fields without which an item is no record, or is another one; those without which a crash is no accident; and details
 * that an event has besides.
 */
const samples: [Fleet, needed: string, ofAccidents: string, details: Item][] = [
  [
    samsaraFleet(200),
    'id asset.id tripStartTime behaviorLabels.0.label startMs',
    'vin asset.vin location.latitude location.longitude',
    {
      speedingMetadata: { maxSpeedKilometersPerHour: 120, postedSpeedLimitKilometersPerHour: 100 },
      media: [{ input: 'front', url: 'https://media.example.com/1' }],
      eventState: 'reviewed',
    },
  ],
  [
    motiveFleet(),
    'id role vehicle.id start_time type',
    'vin vehicle.vin lat lon',
    {
      camera_media: {
        available: true,
        downloadable_videos: { url: 'https://media.example.com/1' },
      },
      metadata: { severity: 'high' },
      acceleration: -3.4,
      coached_at: soon(),
      primary_behavior: ['Smoking'],
    },
  ],
  [
    terminalFleet(),
    'id vehicle startedAt type',
    'vin',
    {
      stats: {
        maximumSpeed: 88,
        roadSpeedLimit: 80,
        gForceSideToSide: 2,
        gForceForwardBackward: -3,
      },
      extensions: { here: { speedLimit: 90 } },
      raw: [terminalRaw('motive', { coaching_status: 'coached' })],
    },
  ],
  [
    geotabFleet(),
    'id isDriver device.id start rule.id activeFrom state',
    'vehicleIdentificationNumber engineVehicleIdentificationNumber',
    { details: { maxSpeed: 121, speedLimit: 100 } },
  ],
];

type Bad = { path: string[]; value: unknown };

describe.each(samples.map((sample) => [sample[0].provider, ...sample] as const))(
  '%s',
  (provider, sample, needed, ofAccidents, details) => {
    const tale = providerStory(provider, () => sample.credential);

    it('loses no record, event or accident to a detail, whatever it is', async () => {
      const bad = new Map<string, Bad>();
      tale.hooks.serves(sample.origin, async (request) => {
        const reply = await sample.serve(request);
        return reply.ok ? Response.json(spoilt(await reply.json(), bad)) : reply;
      });
      await tale.connect();
      let n = 100;
      const made: { table: string; item: Item; field: string; isCrash: boolean }[] = [];
      /** Makes an item for each bad value of each of its fields but those that are needed. */
      const spoil = (table: string, make: (n: number) => Item, isCrash = false) => {
        for (const path of pathsIn(make(++n))) {
          const field = path.join('.');
          if (isWithin(needed, field)) continue;
          for (const value of badValues) {
            const item = make(++n);
            bad.set(keyOf(item), { path, value });
            made.push({ table, item, field, isCrash });
          }
        }
      };
      const crash = (vehicle: Item) => sample.event(vehicle, soon(n * 1000), true, details);
      const happening =
        (make: (vehicle: Item, at: number, isCrash: boolean, more: Item) => Item) => (n: number) =>
          make(sample.vehicle(n), soon(n * 1000), false, details);
      spoil('vehicles', sample.vehicle);
      for (const { item, field } of [...made]) {
        n++;
        made.push({ table: 'safety_events', item: crash(item), field, isCrash: true });
      }
      spoil('drivers', sample.driver);
      spoil('trips', happening(sample.trip));
      spoil('safety_events', happening(sample.event));
      if (sample.other) spoil('safety_events', happening(sample.other));
      spoil('safety_events', (n) => crash(sample.vehicle(n)), true);
      await tale.pullAll();

      const lost: typeof made = [];
      for (const [table, items] of Object.entries(Object.groupBy(made, ({ table }) => table))) {
        const ids = (await tale.sourceIds(table)).map((id) => id.replace(/^\w+:/, ''));
        lost.push(...(items ?? []).filter(({ item }) => !ids.includes(keyOf(item))));
      }
      const accidents = await rows('select id from accidents where connection_id = ?1', tale.id);
      const known = new Set(accidents.map(({ id }) => id));
      for (const one of made)
        if (one.isCrash && !isWithin(ofAccidents, one.field))
          if (!known.has(recordId(tale.id, 'accident', keyOf(one.item)))) lost.push(one);
      expect(lost.map(({ table, field, item }) => `${table} ${field} ${keyOf(item)}`)).toEqual([]);
      const { refusals, warnings } = await tale.pullStatus();
      expect(refusals.filter(({ sourceId }) => sourceId !== '')).toEqual([]); // an empty item has none
      expect(warnings.length).toBeGreaterThan(50);
      expect(JSON.stringify(warnings)).not.toMatch(/12 mph|xxx/);
    }, 120_000);
  },
);

/** By which an item is known: trips of Samsara have no id. */
const keyOf = (item: Item) =>
  String(item.id === undefined ? Date.parse(String(item.tripStartTime)) : item.id);

/** Whether a field is one of these, or has one of them in it. */
const isWithin = (names: string, field: string) =>
  names.split(' ').some((name) => name === field || name.startsWith(`${field}.`));

function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [...path, name],
    ...pathsIn(inner, [...path, name]),
  ]);
}

/** A reply in which these items have bad values, wherever they are, and lists of items have null. */
function spoilt(value: unknown, bad: ReadonlyMap<string, Bad>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const nothing = value.some((one) => one?.id) ? [null] : [];
    return [...value.map((one) => spoilt(one, bad)), ...nothing];
  }
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, spoilt(inner, bad)]),
  );
  const change = bad.get(keyOf(value as Item));
  if (change) put(copy, change.path, change.value);
  return copy;
}

function put(item: Item, [name = '', ...rest]: string[], value: unknown) {
  if (!Object.hasOwn(item, name)) return;
  if (rest.length === 0) item[name] = value;
  else if (typeof item[name] === 'object' && item[name]) put(item[name] as Item, rest, value);
}
