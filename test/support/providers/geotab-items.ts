/** Anything in a made-up MyGeotab database, as Geotab gives it. */
export type Item = { [field: string]: unknown };

let made = 0;
const versionOf = (n: number): string => n.toString(16).padStart(16, '0');
const cameIn = new WeakMap<Item, number>();

/** The version of the newest change of any item. */
export const lastVersion = (): string => versionOf(made);

/** When an item came in (milliseconds since 1970). */
export const cameInAt = (item: Item): number => cameIn.get(item) ?? 0;

/** Gives an item new fields, and the version that comes with them. */
export const geotabChange = <T extends Item>(item: T, more: Item): T =>
  Object.assign(item, more, { version: versionOf(++made) });

const iso = (ms: number): string => new Date(ms).toISOString();

/** An item that came in at a time. */
function come(at: number, item: Item): Item {
  const whole = geotabChange(item, {});
  cameIn.set(whole, at);
  return whole;
}

/** A vehicle as Geotab gives it. */
export const geotabDevice = (n: number, more: Item = {}): Item =>
  come(0, {
    id: `b${n.toString(16).toUpperCase()}`,
    name: `Van ${n}`,
    deviceType: 'GO9',
    vehicleIdentificationNumber: `1FTBW3XM5${String(10_000_000 + n)}`,
    engineVehicleIdentificationNumber: '?',
    vinInfoMake: 'Ford',
    vinInfoModel: 'Transit',
    vinInfoYear: '2023',
    licensePlate: `VAN-${n}`,
    licenseState: 'CO',
    groups: [{ id: 'b27A1' }, { id: 'GroupVehicleId' }],
    activeFrom: '2024-03-01T10:00:00.000Z',
    activeTo: '2050-01-01T00:00:00.000Z',
    ...more,
  });

/** A driver as Geotab gives them. */
export const geotabUser = (n: number, more: Item = {}): Item =>
  come(0, {
    id: `b${(1000 + n).toString(16).toUpperCase()}`,
    name: `sam${n}@acme.example.com`,
    firstName: 'Sam',
    lastName: `Ortiz ${n}`,
    isDriver: true,
    licenseNumber: `77-${n}`,
    licenseProvince: 'CO',
    phoneNumber: '',
    activeFrom: '2024-03-01T10:00:00.000Z',
    activeTo: '2050-01-01T00:00:00.000Z',
    ...more,
  });

/** A trip of a vehicle that began at a time (milliseconds since 1970) and took half an hour, as Geotab gives it. */
export const geotabTrip = (device: Item, at: number, more: Item = {}): Item =>
  come(at + 1_800_000, {
    id: `b${at.toString(16).toUpperCase()}`,
    device: { id: device.id },
    driver: { id: 'b3E9', isDriver: true },
    start: iso(at),
    stop: iso(at + 1_800_000),
    distance: 24.6,
    maximumSpeed: 101,
    stopPoint: { x: -104.87, y: 39.75 },
    ...more,
  });

/** An exception of a rule by a vehicle at a time (milliseconds since 1970), as Geotab gives it: without a place. */
export const geotabException = (device: Item, rule: string, at: number, more: Item = {}): Item =>
  come(at, {
    id: `a${device.id}_${at}`,
    activeFrom: iso(at),
    activeTo: iso(at + 4_000),
    distance: 0.05,
    rule: { id: rule, state: 'RuleStateActiveId', reason: '' },
    device: { id: device.id },
    driver: { id: 'b3E9', isDriver: true },
    state: 'ExceptionEventStateValidId',
    createdDateTime: iso(at + 20_000),
    lastModifiedDateTime: iso(at + 20_000),
    ...more,
  });

/** A position of a vehicle at a time (milliseconds since 1970), as Geotab gives it. */
export const geotabPosition = (device: Item, at: number, more: Item = {}): Item =>
  come(at, {
    id: `b${at.toString(16).toUpperCase()}${device.id}`,
    device: { id: device.id },
    dateTime: iso(at),
    latitude: 39.7392,
    longitude: -104.9903,
    speed: 64,
    ...more,
  });

/** A rule as Geotab gives it. Those of customers have ids that say nothing. */
export const geotabRule = (id: string, name: string): Item => ({ id, name, state: 'RuleStateActiveId' });
