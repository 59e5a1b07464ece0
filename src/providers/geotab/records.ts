import * as v from 'valibot';
import { groupLimits } from '../../fleet/lists/vehicles.ts';
import type { ProviderRecord } from '../connector.ts';
import { at, field, itemsAt, msOf, place, secondsBetween, yearIn } from '../read.ts';

/*
 * Geotab says when something was changed by a version that is no time. So these records carry none: they come in the
 * order of their versions, and the last one counts.
 */

/** Whether a Device is a vehicle: trailers and other things without hardware are none. */
export const isVehicle = (item: unknown): boolean => at(item, 'deviceType') !== 'None';

/** A vehicle from a Device. `groups` has the names of the groups that the customer made. */
export const vehicleRecord = (item: unknown, groups: ReadonlyMap<string, string>): ProviderRecord => ({
  kind: 'vehicle',
  sourceId: field(item, 'id'),
  name: field(item, 'name') ?? field(item, 'id'),
  vin: vinOf(item),
  make: field(item, 'vinInfoMake'),
  model: field(item, 'vinInfoModel'),
  year: yearIn(at(item, 'vinInfoYear')),
  licensePlate: field(item, 'licensePlate'),
  groups: groupsOf(item, groups),
  status: isActive(item) ? 'active' : 'inactive',
});

/** The VIN of a Device: as people entered it, or else as the engine gives it. */
export const vinOf = (item: unknown): unknown =>
  [field(item, 'vehicleIdentificationNumber'), field(item, 'engineVehicleIdentificationNumber')].find(
    (vin) => vin !== null && vin !== '?',
  ) ?? null;

/** As many of a vehicle's groups as a record may have: a vehicle in too many of them is one all the same. */
function groupsOf(item: unknown, names: ReadonlyMap<string, string>): string[] {
  const found = itemsAt(item, 'groups').flatMap(
    (group) => names.get(String(reference({ group }, 'group'))) ?? [],
  );
  const kept: string[] = [];
  for (const name of [...new Set(found)].sort()) {
    const isShort = new TextEncoder().encode(JSON.stringify([...kept, name])).length <= groupLimits.bytes;
    if (isShort && name.length <= groupLimits.length && kept.length < groupLimits.max) kept.push(name);
  }
  return kept;
}

const Email = v.pipe(v.string(), v.email());

/** A driver from a User who is one. Many log in with their email address. */
export function driverRecord(item: unknown): ProviderRecord {
  const login = field(item, 'name');
  const name = [textAt(item, 'firstName'), textAt(item, 'lastName')].filter(Boolean).join(' ').trim();
  return {
    kind: 'driver',
    sourceId: field(item, 'id'),
    name: name || (login ?? field(item, 'id')),
    email: v.is(Email, login) ? login : null,
    phone: field(item, 'phoneNumber'),
    licenseState: field(item, 'licenseProvince'),
    licenseNumber: field(item, 'licenseNumber'),
    status: isActive(item) ? 1 : 0,
  };
}

/**
 * A trip, which knows where it ended only. Geotab works trips out again when late positions come in. Nobody has shown
 * whether such a trip keeps its id: if it does, it replaces itself; if not, the new one stands beside the old one.
 */
export function tripRecord(item: unknown): ProviderRecord {
  const [startedAt, endedAt] = [timeAt(item, 'start'), timeAt(item, 'stop')];
  return {
    kind: 'trip',
    sourceId: field(item, 'id'),
    vehicle: reference(item, 'device'),
    driver: reference(item, 'driver'),
    startedAt,
    endedAt,
    endLocation: place(at(item, 'stopPoint', 'y'), at(item, 'stopPoint', 'x')),
    distanceKm: field(item, 'distance'),
    durationSeconds: secondsBetween(startedAt, endedAt),
  };
}

/** The id that something refers to: bare, or in an object. Null for the ids that stand for nobody. */
export function reference(value: unknown, name: string): unknown {
  const found = field(value, name);
  const id = typeof found === 'object' ? field(found, 'id') : found;
  return typeof id === 'string' && /^(?:Unknown|No)[A-Z]\w*Id$/.test(id) ? null : id;
}

/** Geotab has dates of year 1 and of 1986 for "never", and of 2050 for "not yet". */
const earliest = Date.UTC(1990, 0, 1);
const notYet = Date.UTC(2050, 0, 1);

/** A time; null if it is one of those that stand for none. */
export function timeAt(value: unknown, name: string): unknown {
  const found = field(value, name);
  const ms = msOf(found);
  return ms < earliest || ms >= notYet ? null : found;
}

/** Whether a vehicle or a user is still active: until when is in `activeTo`. */
export const isActive = (value: unknown): boolean => !(msOf(field(value, 'activeTo')) <= Date.now());

/** Text as it is, or null. */
export const textAt = (value: unknown, name: string): string | null => {
  const found = field(value, name);
  return typeof found === 'string' ? found : null;
};
