import { dayMs } from '#src/core/platform/durations.ts';

/** A fleet at any made-up provider, which has nothing yet. */
export type Fleet = {
  provider: string;
  origin: string;
  credential: string;
  wrongCredential: string;
  serve(request: Request): Promise<Response>;
  /** What is asked for in a minute in which nothing happens. */
  asked: string[];
  /** Each of these adds something, which began at a time (milliseconds since 1970), and returns it. */
  vehicle(n: number): Item;
  driver(n: number): Item;
  trip(vehicle: Item, n: number, at: number): Item;
  event(vehicle: Item, n: number, at: number, isCrash: boolean, more?: Item): Item;
  other?(vehicle: Item, n: number, at: number): Item;
  addVehicle(n: number): void;
  /** The n-th event since, of one vehicle after the other. */
  addEvent(n: number, isCrash: boolean): FleetEvent;
  /** What the provider has as the VIN of the vehicle of the n-th event from now on. */
  setVin(n: number, vin: string): void;
  /** The sourceIds of what there is, by table. */
  known(): { [table: string]: string[] };
};

/** `confirm` has the provider say that a crash was one, and `move` that it was at this latitude. */
export type FleetEvent = { sourceId: string; confirm(): void; move(latitude: unknown): void };

/** The same with three vehicles and a week of history. */
export function withHistory(fleet: Fleet): Fleet {
  const vehicles = [1, 2, 3].map((n) => fleet.vehicle(n));
  for (const n of [1, 2, 3]) fleet.driver(n);
  for (const n of [1, 2, 3, 4, 5]) {
    const [vehicle = {}, at] = [vehicles[n % 3], Date.now() - n * dayMs];
    fleet.trip(vehicle, n, at);
    fleet.event(vehicle, n, at, n === 2);
    fleet.other?.(vehicle, n, at);
  }
  return fleet;
}

export function add<T extends Item>(list: Item[], item: T): T {
  list.push(item);
  return item;
}

/** Soon enough to be after the connection was made, also in whole seconds. */
export const soon = (n = 0) => Date.now() + 2_000 + n;
export const idsOf = (items: Item[]) => items.map(({ id }) => String(id));

/** Anything that a provider has. */
export type Item = { [field: string]: unknown };

export const iso = (ms: number): string => new Date(ms).toISOString();
