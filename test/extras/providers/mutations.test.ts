import { recordId } from '#src/core/platform/db/ids.ts';
import { motiveFleet } from '#test/extras/providers/fleets/motive.ts';
import { terminalFleet, terminalRaw } from '#test/extras/providers/fleets/terminal.ts';
import { providerStory, pullAll, pullStatus } from '#test/support/provider.ts';
import { type Fleet, type Item, soon } from '#test/support/providers/fleet.ts';
import { geotabFleet } from '#test/support/providers/geotab.ts';
import { samsaraFleet } from '#test/support/providers/samsara.ts';
import { rows } from '#test/support/rows.ts';

const badValues = [
  ...[' ', '\u0000', 'x'.repeat(5_000), '12 mph', null],
  ...[-1, 8.6e18, true, { nested: { deep: [1] } }, [[null]]],
];

/**
 * Fields without which an item is no record, or is another one; a crash without those of `crash` is no accident. `details`
 * are what an event has besides.
 */
type Needed = {
  vehicle: string;
  driver: string;
  trip: string;
  event: string;
  crash: string;
  details: Item;
};

const url = 'https://media.example.com/1';
const samples: [Fleet, Needed][] = [
  [
    samsaraFleet(200),
    {
      vehicle: 'id',
      driver: 'id',
      trip: 'asset.id tripStartTime',
      event: 'id asset.id behaviorLabels.0.label startMs',
      crash: 'asset.vin location.latitude location.longitude',
      details: {
        speedingMetadata: {
          maxSpeedKilometersPerHour: 120,
          postedSpeedLimitKilometersPerHour: 100,
        },
        media: [{ input: 'front', url }],
        eventState: 'reviewed',
      },
    },
  ],
  [
    motiveFleet(),
    {
      vehicle: 'id',
      driver: 'id role',
      trip: 'id vehicle.id start_time',
      event: 'id type vehicle.id start_time',
      crash: 'vehicle.vin lat lon',
      details: {
        camera_media: { available: true, downloadable_videos: { url } },
        metadata: { severity: 'high' },
        ...{ acceleration: -3.4, coached_at: soon(), primary_behavior: ['Smoking'] },
      },
    },
  ],
  [
    terminalFleet(),
    {
      vehicle: 'id',
      driver: 'id',
      trip: 'id vehicle startedAt',
      event: 'id type vehicle startedAt',
      crash: '',
      details: {
        stats: {
          maximumSpeed: 88,
          roadSpeedLimit: 80,
          gForceSideToSide: 2,
          gForceForwardBackward: -3,
        },
        extensions: { here: { speedLimit: 90 } },
        raw: [terminalRaw('motive', { coaching_status: 'coached' })],
      },
    },
  ],
  [
    geotabFleet(),
    {
      vehicle: 'id',
      driver: 'id isDriver',
      trip: 'id device.id start',
      event: 'id rule.id device.id activeFrom state',
      crash: '',
      details: { details: { maxSpeed: 121, speedLimit: 100 } },
    },
  ],
];

describe.each(samples.map((sample) => [sample[0].provider, ...sample] as const))(
  '%s',
  (_, sample, needed) => {
    const tale = providerStory(sample.provider);
    const event = (vehicle: Item, n: number, isCrash: boolean) =>
      sample.event(vehicle, n, soon(n * 1000), isCrash, needed.details);

    it('loses no record, event or accident to a detail, whatever it is', async () => {
      const bad = new Map<string, { path: string[]; value: unknown }>();
      tale.hooks.serves(sample.origin, async (request) => {
        const reply = await sample.serve(request);
        return reply.ok ? Response.json(spoilt(await reply.json(), bad)) : reply;
      });
      const id = await tale.connectWith(sample.credential);
      let n = 100;
      /** Makes an item for each bad value of each of its fields but these. Returns the items with the field. */
      const spoil = (make: (n: number) => Item, ...without: string[]) => {
        const first = make(++n);
        const fields = pathsIn(first).filter(
          (path) => !without.some((one) => isWithin(one, path.join('.'))),
        );
        const items = fields.flatMap((path) =>
          badValues.map((value) => {
            const item = make(++n);
            bad.set(keyOf(item), { path, value });
            return { item, field: path.join('.') };
          }),
        );
        expect(items.length).toBeGreaterThan(50);
        return items;
      };
      const vehicles = spoil(sample.vehicle, needed.vehicle);
      const drivers = spoil(sample.driver, needed.driver);
      const trips = spoil((n) => sample.trip(sample.vehicle(n), n, soon(n * 1000)), needed.trip);
      const events = spoil((n) => event(sample.vehicle(n), n, false), needed.event);
      const { other } = sample;
      if (other)
        events.push(...spoil((n) => other(sample.vehicle(n), n, soon(n * 1000)), needed.event));
      const crashes = spoil((n) => event(sample.vehicle(n), n, true), needed.event);
      const ofVehicles = vehicles.map(({ item, field }) => ({
        item: event(item, ++n, true),
        field,
      }));
      await pullAll(id);

      const known = async (table: string) => {
        const found = await rows(`select source_id from ${table} where connection_id = ?1`, id);
        return new Set(found.map(({ source_id }) => String(source_id).replace(/^\w+:/, '')));
      };
      const all = {
        vehicles,
        drivers,
        trips,
        safety_events: [...events, ...crashes, ...ofVehicles],
      };
      const lost: string[] = [];
      for (const [table, made] of Object.entries(all)) {
        const ids = await known(table);
        for (const { item, field } of made)
          if (!ids.has(keyOf(item)))
            lost.push(`${table} ${field} ${bad.get(keyOf(item))?.value}`.slice(0, 80));
      }
      const accidents = new Set(
        (await rows('select id from accidents where connection_id = ?1', id)).map(({ id }) => id),
      );
      const isLost = ({ item }: { item: Item }) =>
        !accidents.has(recordId(id, 'accident', keyOf(item)));
      const lostAccidents = [
        ...crashes.filter(
          ({ field }) => !needed.crash.split(' ').some((one) => isWithin(one, field)),
        ),
        ...ofVehicles.filter(({ field }) => !/vin|identification/i.test(field)),
      ].filter(isLost);
      expect(lost).toEqual([]);
      expect(lostAccidents.map(({ field, item }) => `${field} ${keyOf(item)}`)).toEqual([]);
      const { refusals, warnings } = await pullStatus(id);
      expect(refusals.filter(({ sourceId }) => sourceId !== '')).toEqual([]); // an empty item has none
      expect(warnings.length).toBeGreaterThan(50);
      expect(JSON.stringify(warnings)).not.toMatch(/12 mph|xxx/);
    }, 120_000);
  },
);

/** By which an item is known: trips of Samsara have no id. */
const keyOf = (item: Item): string =>
  item.id === undefined ? String(Date.parse(String(item.tripStartTime))) : String(item.id);

/** Whether a field is one of these, or has one of them in it. */
const isWithin = (names: string, field: string): boolean =>
  names.split(' ').some((name) => name === field || name.startsWith(`${field}.`));

function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [...path, name],
    ...pathsIn(inner, [...path, name]),
  ]);
}

/** A reply in which these items have bad values, wherever they are. */
function spoilt(
  value: unknown,
  bad: ReadonlyMap<string, { path: string[]; value: unknown }>,
): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, spoilt(inner, bad)] as const);
  const items = entries.map(([, inner]) => inner);
  const nothing = Array.isArray(value) && value.some((one) => one?.id) ? [null] : [];
  const copy = (
    Array.isArray(value) ? [...items, ...nothing] : Object.fromEntries(entries)
  ) as Item;
  const change = Array.isArray(value) ? undefined : bad.get(keyOf(value as Item));
  if (change) put(copy, change.path, change.value);
  return copy;
}

function put(item: Item, [name = '', ...rest]: string[], value: unknown): void {
  if (!Object.hasOwn(item, name)) return;
  if (rest.length === 0) item[name] = value;
  else if (typeof item[name] === 'object' && item[name]) put(item[name] as Item, rest, value);
}
