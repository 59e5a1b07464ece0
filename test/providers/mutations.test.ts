import { describe, expect, it } from 'vitest';
import {
  fakeSamsara,
  samsaraDriver,
  samsaraEvent,
  samsaraTrip,
  samsaraVehicle,
} from '../../src/dev/fakes/samsara.ts';
import { recordId } from '../../src/platform/db/ids.ts';
import { providerStory, pullAll, pullStatus } from '../support/provider.ts';
import { type Item, soon } from '../support/providers/fleet.ts';
import {
  fakeGeotab,
  geotabCredential,
  geotabDatabase,
  geotabDevice,
  geotabException,
  geotabPosition,
  geotabTrip,
  geotabUser,
} from '../support/providers/geotab.ts';
import {
  fakeMotive,
  motiveData,
  motiveDriver,
  motiveEvent,
  motivePeriod,
  motiveSpeeding,
  motiveVehicle,
} from '../support/providers/motive.ts';
import { samsaraData } from '../support/providers/samsara.ts';
import {
  fakeTerminal,
  terminalCredential,
  terminalData,
  terminalDriver,
  terminalEvent,
  terminalRaw,
  terminalTrip,
  terminalVehicle,
} from '../support/providers/terminal.ts';
import { rows } from '../support/rows.ts';

/** What providers send instead of a value. */
const badValues = [
  ...[' ', '\u0000', 'x'.repeat(5_000), '12 mph', null],
  ...[-1, 8.6e18, true, { nested: { deep: [1] } }, [[null]]],
];

/**
 * A provider whose data can be added to. `needed` are the fields without which an item is no record, or is another one;
 * a crash without those of `crash` is no accident.
 */
type Sample = {
  provider: string;
  origin: string;
  credential: string;
  serve(request: Request): Promise<Response>;
  vehicle(n: number): Item;
  driver(n: number): Item;
  trip(vehicle: Item, n: number): Item;
  event(vehicle: Item, n: number, isCrash: boolean): Item;
  /** An event of another list. */
  other?(vehicle: Item, n: number): Item;
  needed: { vehicle: string; driver: string; trip: string; event: string; crash: string };
};

function add<T extends Item>(list: Item[], item: T): T {
  list.push(item);
  return item;
}

const samples: (() => Sample)[] = [
  () => {
    const data = samsaraData('samsara_api_mutations');
    const at = (n: number) => soon(n * 1000);
    return {
      provider: 'samsara',
      origin: 'https://api.samsara.com',
      credential: data.token,
      serve: fakeSamsara(data, { perPage: 200 }),
      vehicle: (n) => add(data.vehicles, samsaraVehicle(n)),
      driver: (n) => add(data.drivers, samsaraDriver(n)),
      trip: (vehicle, n) => add(data.trips, samsaraTrip(vehicle, at(n))),
      event: (vehicle, n, isCrash) =>
        add(
          data.events,
          samsaraEvent(vehicle, isCrash ? 'Crash' : 'Braking', at(n), {
            speedingMetadata: { maxSpeedKilometersPerHour: 120, postedSpeedLimitKilometersPerHour: 100 },
            media: [{ input: 'front', url: 'https://media.example.com/1' }],
            eventState: 'reviewed',
          }),
        ),
      needed: {
        ...{ vehicle: 'id', driver: 'id', trip: 'asset.id tripStartTime' },
        ...{
          event: 'id asset.id behaviorLabels.0.label startMs',
          crash: 'asset.vin location.latitude location.longitude',
        },
      },
    };
  },
  () => {
    const data = { ...motiveData(), vehicles: [] as Item[], users: [] as Item[] };
    const at = (n: number) => soon(n * 1000);
    return {
      provider: 'motive',
      origin: 'https://api.gomotive.com',
      credential: data.key,
      serve: fakeMotive(data),
      vehicle: (n) => add(data.vehicles, motiveVehicle(n, { group_ids: [1] })),
      driver: (n) => add(data.users, motiveDriver(n)),
      trip: (vehicle, n) => add(data.periods, motivePeriod(vehicle, at(n))),
      event: (vehicle, n, isCrash) =>
        add(
          data.performance,
          motiveEvent(vehicle, isCrash ? 'crash' : 'hard_brake', at(n), {
            camera_media: { available: true, downloadable_videos: { url: 'https://media.example.com/1' } },
            metadata: { severity: 'high' },
            ...{ acceleration: -3.4, coached_at: soon(), primary_behavior: ['Smoking'] },
          }),
        ),
      other: (vehicle, n) => add(data.speeding, motiveSpeeding(vehicle, at(n))),
      needed: {
        ...{ vehicle: 'id', driver: 'id role', trip: 'id vehicle.id start_time' },
        ...{ event: 'id type vehicle.id start_time', crash: 'vehicle.vin lat lon' },
      },
    };
  },
  () => {
    const data = { ...terminalData(), vehicles: [] as Item[], drivers: [] as Item[] };
    const at = (n: number) => soon(n * 1000);
    return {
      provider: 'terminal',
      origin: 'https://api.withterminal.com',
      credential: terminalCredential(data),
      serve: fakeTerminal(data),
      vehicle: (n) => add(data.vehicles, terminalVehicle(n, { groups: [data.groups[0]?.id] })),
      driver: (n) => add(data.drivers, terminalDriver(n)),
      trip: (vehicle, n) => add(data.trips, terminalTrip(vehicle, n, at(n))),
      event: (vehicle, n, isCrash) =>
        add(
          data.events,
          terminalEvent(vehicle, isCrash ? 'crash' : 'harsh_brake', n, at(n), {
            stats: { maximumSpeed: 88, roadSpeedLimit: 80, gForceSideToSide: 2, gForceForwardBackward: -3 },
            extensions: { here: { speedLimit: 90 } },
            raw: [terminalRaw('motive', { coaching_status: 'coached' })],
          }),
        ),
      needed: {
        ...{ vehicle: 'id', driver: 'id', trip: 'id vehicle startedAt' },
        ...{ event: 'id type vehicle startedAt', crash: '' },
      },
    };
  },
  () => {
    const data = geotabDatabase('mutations');
    const at = (n: number) => soon(n * 1000);
    return {
      provider: 'geotab',
      origin: 'https://my.geotab.com',
      credential: geotabCredential(data),
      serve: fakeGeotab(data),
      vehicle: (n) => add(data.devices, geotabDevice(n)),
      driver: (n) => add(data.users, geotabUser(n)),
      trip: (vehicle, n) => add(data.trips, geotabTrip(vehicle, at(n))),
      event(vehicle, n, isCrash) {
        data.positions.push(geotabPosition(vehicle, at(n)));
        const rule = isCrash ? 'RuleEnhancedMajorCollisionId' : 'RuleHarshBrakingId';
        const details = { maxSpeed: 121, speedLimit: 100 };
        return add(data.exceptions, geotabException(vehicle, rule, at(n), { details }));
      },
      needed: {
        ...{ vehicle: 'id', driver: 'id isDriver', trip: 'id device.id start' },
        ...{ event: 'id rule.id device.id activeFrom state', crash: '' },
      },
    };
  },
];

describe.each(samples.map((make) => [make().provider, make] as const))('%s', (_provider, make) => {
  const sample = make();
  const tale = providerStory(sample.provider);
  const { needed } = sample;

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
      const fields = pathsIn(first).filter((path) => !without.some((one) => isWithin(one, path.join('.'))));
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
    const trips = spoil((n) => sample.trip(sample.vehicle(n), n), needed.trip);
    const events = spoil((n) => sample.event(sample.vehicle(n), n, false), needed.event);
    const { other } = sample;
    if (other) events.push(...spoil((n) => other(sample.vehicle(n), n), needed.event));
    const crashes = spoil((n) => sample.event(sample.vehicle(n), n, true), needed.event);
    const ofVehicles = vehicles.map(({ item, field }) => ({ item: sample.event(item, ++n, true), field }));
    await pullAll(id);

    const known = async (table: string) => {
      const found = await rows(`select source_id from ${table} where connection_id = ?1`, id);
      return new Set(found.map(({ source_id }) => String(source_id).replace(/^\w+:/, '')));
    };
    const all = { vehicles, drivers, trips, safety_events: [...events, ...crashes, ...ofVehicles] };
    const lost: string[] = [];
    for (const [table, made] of Object.entries(all)) {
      const ids = await known(table);
      for (const { item, field } of made)
        if (!ids.has(keyOf(item))) lost.push(`${table} ${field} ${bad.get(keyOf(item))?.value}`.slice(0, 80));
    }
    const accidents = new Set(
      (await rows('select id from accidents where connection_id = ?1', id)).map(({ id }) => id),
    );
    const isLost = ({ item }: { item: Item }) => !accidents.has(recordId(id, 'accident', keyOf(item)));
    const lostAccidents = [
      ...crashes.filter(({ field }) => !needed.crash.split(' ').some((one) => isWithin(one, field))),
      ...ofVehicles.filter(({ field }) => !/vin|identification/i.test(field)),
    ].filter(isLost);
    expect(lost).toEqual([]);
    expect(lostAccidents.map(({ field, item }) => `${field} ${keyOf(item)}`)).toEqual([]);
    const { refusals, warnings } = await pullStatus(id);
    expect(refusals.filter(({ sourceId }) => sourceId !== '')).toEqual([]); // an empty item has none
    expect(warnings.length).toBeGreaterThan(50);
    expect(JSON.stringify(warnings)).not.toMatch(/12 mph|xxx/);
  }, 120_000);
});

/** By which an item is known: trips of Samsara have no id. */
const keyOf = (item: Item): string =>
  item.id === undefined ? String(Date.parse(String(item.tripStartTime))) : String(item.id);

/** Whether a field is one of these, or has one of them in it. */
const isWithin = (names: string, field: string): boolean =>
  names.split(' ').some((name) => name === field || name.startsWith(`${field}.`));

/** The fields of an item, those within others too. */
function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    [...path, name],
    ...pathsIn(inner, [...path, name]),
  ]);
}

/** A reply in which these items have bad values, wherever they are. */
function spoilt(value: unknown, bad: ReadonlyMap<string, { path: string[]; value: unknown }>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, spoilt(inner, bad)] as const);
  const items = entries.map(([, inner]) => inner);
  const nothing = Array.isArray(value) && value.some((one) => one?.id) ? [null] : [];
  const copy = (Array.isArray(value) ? [...items, ...nothing] : Object.fromEntries(entries)) as Item;
  const change = Array.isArray(value) ? undefined : bad.get(keyOf(value as Item));
  if (change) put(copy, change.path, change.value);
  return copy;
}

function put(item: Item, [name = '', ...rest]: string[], value: unknown): void {
  if (!Object.hasOwn(item, name)) return;
  if (rest.length === 0) item[name] = value;
  else if (typeof item[name] === 'object' && item[name]) put(item[name] as Item, rest, value);
}
