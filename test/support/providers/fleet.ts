/** A fleet of three vehicles at any made-up provider, with a week of history. */
export type Fleet = {
  provider: string;
  origin: string;
  credential: string;
  /** One that the provider does not know. */
  wrongCredential: string;
  /** Replies as the provider does. */
  serve(request: Request): Promise<Response>;
  /** What is asked for in a minute in which nothing happens. */
  asked: string[];
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

/** Soon enough to be after the connection was made, also in whole seconds. */
export const soon = (n = 0) => Date.now() + 2_000 + n;
export const idsOf = (items: Item[]) => items.map(({ id }) => String(id));

/** Anything that a provider has. */
export type Item = { [field: string]: unknown };

export const iso = (ms: number): string => new Date(ms).toISOString();
