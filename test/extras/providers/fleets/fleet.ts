/** Anything that a provider has. */
export type Item = { [field: string]: unknown };

/** A made-up provider with nothing yet, and how it says things. Times are milliseconds since 1970. */
type Provider = {
  provider: string;
  origin: string;
  credential: string;
  wrongCredential: string;
  serve(request: Request): Promise<Response>;
  /** What is asked for in a minute in which nothing happens. */
  asked: string[];
  /** Each of these adds something, which began at a time, and returns it. */
  vehicle(n: number): Item;
  driver(n: number): Item;
  trip(vehicle: Item, at: number): Item;
  event(vehicle: Item, at: number, isCrash: boolean, more?: Item): Item;
  /** The same for events of another list. */
  other?(vehicle: Item, at: number): Item;
  /** The fields of an item that say that it changed now. */
  changed(): Item;
  /** The fields of a crash that confirm it. */
  confirmed: Item;
  /** Those that dismiss it. */
  dismissed: Item;
  /** The fields of a crash that place it at a latitude; undefined if the provider sends no place. */
  movedTo(latitude: unknown, crash: Item): Item | undefined;
  /** The property of a vehicle that has its VIN, if that is not `vin`. */
  vin?: string;
  /** What an item is known by, if not by its id. */
  sourceIdOf?(item: Item): string;
  /** What customers see of its organisation, and of an item of each list. */
  shown: { organisation: string } & Record<'vehicles' | 'drivers' | 'trips' | 'events', Item>;
};

export type Fleet = ReturnType<typeof fleetOf>;

/** The fleet of a made-up provider, which knows what was added to it. */
export function fleetOf(provider: Provider) {
  const { sourceIdOf = ({ id }) => String(id), vin = 'vin' } = provider;
  /** Gives an item new fields. */
  const change = (item: Item, more: Item = {}) => Object.assign(item, more, provider.changed());
  const made: Lists = { vehicles: [], drivers: [], trips: [], safety_events: [] };
  const known = (table: keyof Lists, item: Item) => add(made[table], item);
  const vehicleOf = (n: number) => made.vehicles[n % made.vehicles.length] ?? {};
  const event: Provider['event'] = (...of) => known('safety_events', provider.event(...of));
  const { other: makeOther } = provider;
  const other = makeOther && ((...of: [Item, number]) => known('safety_events', makeOther(...of)));
  return {
    ...provider,
    event,
    change,
    vehicle: (n: number) => known('vehicles', change(provider.vehicle(n))),
    driver: (n: number) => known('drivers', provider.driver(n)),
    trip: (...of: Parameters<Provider['trip']>) => known('trips', provider.trip(...of)),
    other,
    /** The sourceIds of what there is, by table, in the order in which it came. */
    known: () =>
      Object.entries(made).map(([table, items]) => [table, items.map(sourceIdOf)] as const),
    /** The n-th event since, of one vehicle after the other; of another list, if there is one, now and then. */
    addEvent(n: number, isCrash: boolean) {
      const make = n % 3 === 2 && !isCrash ? (other ?? event) : event;
      const item = change(make(vehicleOf(n), soon(n), isCrash));
      return {
        sourceId: sourceIdOf(item),
        confirm: () => change(item, provider.confirmed),
        dismiss: () => change(item, provider.dismissed),
        move(latitude: unknown) {
          const moved = provider.movedTo(latitude, item);
          if (moved) change(item, moved);
        },
      };
    },
    vinOf: (n: number) => vehicleOf(n)[vin],
    /** What the provider has as the VIN of the vehicle of the n-th event from now on, also in its events. */
    setVin(n: number, value: string) {
      const { id } = change(vehicleOf(n), { [vin]: value });
      for (const { asset, vehicle } of made.safety_events as { [name: string]: Item }[])
        for (const own of [asset, vehicle]) if (own && own.id === id) own.vin = value;
    },
  };
}

type Lists = Record<'vehicles' | 'drivers' | 'trips' | 'safety_events', Item[]>;

/** The same with three vehicles and some weeks of history. */
export function withHistory(fleet: Fleet) {
  const vehicles = [1, 2, 3].map((n) => fleet.vehicle(n));
  for (const n of [1, 2, 3]) fleet.driver(n);
  for (const n of [1, 2, 3, 4, 5]) {
    const [vehicle = {}, at] = [vehicles[n % 3], Date.now() - (4 * n - 1) * 86_400_000];
    fleet.trip(vehicle, at);
    fleet.event(vehicle, at, n === 1);
    fleet.other?.(vehicle, at);
  }
  return fleet;
}

export function add<T extends Item>(list: Item[], item: T) {
  list.push(item);
  return item;
}

/** A place as customers see it. */
export const shownPlace = (latitude: number, longitude: number, address: unknown = null) => ({
  latitude,
  longitude,
  address,
});

/** Soon enough to be after the connection was made, also in whole seconds. */
export const soon = (n = 0) => Date.now() + 2_000 + n;

export const iso = (ms: number) => new Date(ms).toISOString();
