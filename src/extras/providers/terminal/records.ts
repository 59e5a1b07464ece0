import type { Access, ProviderRecord } from '../connector/connector.ts';
import type { Crash } from '../connector/crash.ts';
import {
  at,
  field,
  fittingGroups,
  itemsAt,
  joinedFields,
  placeIn,
  sameFields,
  usablePlace,
} from '../connector/read.ts';
import { isValid } from '../geotab/records.ts';
import { reviewOf } from '../motive/crashes.ts';
import { isDismissed } from '../motive/records.ts';
import { crashOf as crashOfSamsara, isFalse } from '../samsara/events.ts';

/** References are ids, or expanded objects where requested. */
export const idOf = (reference: unknown): unknown =>
  typeof reference === 'object' ? field(reference, 'id') : field({ reference }, 'reference');

/** A vehicle of `/vehicles`, with the names of its groups by id. */
export function vehicleRecord(
  item: unknown,
  groupNames?: ReadonlyMap<unknown, unknown>,
): ProviderRecord {
  const nameOf = (group: unknown) => field(group, 'name') ?? groupNames?.get(idOf(group));
  return {
    kind: 'vehicle',
    sourceId: field(item, 'id'),
    sourceUpdatedAt: field(item, 'metadata', 'modifiedAt'),
    name: field(item, 'name') ?? field(item, 'vin') ?? field(item, 'sourceId'),
    ...sameFields(item, 'vin', 'make', 'model', 'year', 'fuelType'),
    licensePlate: field(item, 'licensePlate', 'number'),
    groups: fittingGroups(itemsAt(item, 'groups').map(nameOf)),
    status: at(item, 'status') === 'inactive' || isDeleted(item) ? 'inactive' : 'active',
  };
}

export const driverRecord = (item: unknown): ProviderRecord => ({
  kind: 'driver',
  sourceId: field(item, 'id'),
  sourceUpdatedAt: field(item, 'metadata', 'modifiedAt'),
  name:
    joinedFields(item, 'firstName', 'middleName', 'lastName') ??
    field(item, 'username') ??
    field(item, 'sourceId'),
  ...sameFields(item, 'email', 'phone'),
  licenseState: field(item, 'license', 'state'),
  licenseNumber: field(item, 'license', 'number'),
  status: at(item, 'status') === 'inactive' || isDeleted(item) ? 0 : 1,
});

const isDeleted = (item: unknown): boolean =>
  field(item, 'metadata', 'deletedAt') !== null || at(item, 'metadata', 'visibility') === 'deleted';

const happening = (kind: ProviderRecord['kind'], item: unknown): ProviderRecord => ({
  kind,
  sourceId: field(item, 'id'),
  sourceUpdatedAt: field(item, 'metadata', 'modifiedAt'),
  vehicle: idOf(at(item, 'vehicle')),
  driver: idOf(at(item, 'driver')),
  ...sameFields(item, 'startedAt', 'endedAt'),
});

/** A trip of `/trips`, which lists finished ones only. */
export function tripRecord(item: unknown): ProviderRecord {
  const duration = field(item, 'duration');
  return {
    ...happening('trip', item),
    startLocation: placeIn(item, 'startLocation'),
    endLocation: placeIn(item, 'endLocation'),
    distanceKm: field(item, 'distance'),
    durationSeconds: typeof duration === 'number' ? duration / 1000 : duration,
  };
}

/** A safety event of `/safety/events`, by the provider's own label if the connection's map has it. */
export const eventRecord = (
  item: unknown,
  ownWords: Access['incidentTypeMap'],
): ProviderRecord => ({
  ...happening('safetyEvent', item),
  incidentTypes: wordsOf(item, ownWords),
  issuedOn: field(item, 'metadata', 'addedAt'),
  location: usablePlace(placeIn(item, 'startLocation'), placeIn(item, 'endLocation')),
  maxSpeedKph: field(item, 'stats', 'maximumSpeed'),
  speedLimitKph:
    field(item, 'stats', 'roadSpeedLimit') ?? field(item, 'extensions', 'here', 'speedLimit'),
  withdrawn:
    itemsAt(item, 'raw').some((one) => withdrawals.get(providerOf(one))?.(dataOf(one)) === true) ||
    null,
});

/** The record of the provider itself, which comes with an event. */
const providerOf = (raw: unknown): string => String(at(raw, 'provider'));
const dataOf = (raw: unknown): unknown =>
  at(raw, 'data', 'driver_performance_event') ?? at(raw, 'data');

/** Whether it says that the event was none, by the rules by which we read it ourselves. */
const withdrawals = new Map<string, (data: unknown) => boolean>([
  ['samsara', isFalse],
  ['geotab', (data) => !isValid(data)],
  ['motive', isDismissed],
]);

function wordsOf(item: unknown, ownWords: Access['incidentTypeMap'] = {}): unknown[] {
  const [type, sourceType] = [field(item, 'type'), field(item, 'sourceType')];
  const isOwn = typeof sourceType === 'string' && Object.hasOwn(ownWords, sourceType);
  return [...new Set(isOwn ? [type, sourceType] : [type])].filter((word) => word !== null);
}

/** The vehicle in an event, if it was expanded. */
export function vehicleOf(item: unknown): ProviderRecord[] {
  const vehicle = at(item, 'vehicle');
  return typeof vehicle === 'object' && vehicle ? [vehicleRecord(vehicle)] : [];
}

/** How far a crash has come; undefined for what is none. Terminal has no review, nor false alarms. */
export function crashOf(item: unknown): Crash | undefined {
  if (at(item, 'type') !== 'crash') return undefined;
  const verdict = verdictOf(item);
  return {
    vin: field(item, 'vehicle', 'vin'),
    level: verdict === 'confirmed' ? (hasVideo(item) ? 3 : 2) : 1,
    dismissed: verdict === 'dismissed',
    reportUrl: null,
    accelerationG: forceOf(item),
  };
}

/** The stronger of the two directions in which it was felt, in g. */
function forceOf(item: unknown): number | undefined {
  const forces = ['gForceForwardBackward', 'gForceSideToSide']
    .map((name) => at(item, 'stats', name))
    .filter((force) => typeof force === 'number');
  return forces.length > 0 ? Math.max(...forces.map(Math.abs)) : undefined;
}

const hasVideo = (item: unknown): boolean =>
  ['frontFacing', 'rearFacing'].some(
    (camera) => at(item, 'cameraMedia', camera, 'available') === true,
  );

type Verdict = 'confirmed' | 'dismissed' | undefined;

/** How each provider says it, by the rules by which we read it ourselves. */
const rules = new Map<string, (data: unknown) => Verdict>([
  ['samsara', verdictOfSamsara],
  // Geotab says nothing when it was none but that it is not valid any more.
  ['geotab', (data) => (isValid(data) ? undefined : 'dismissed')],
  ['motive', reviewOf],
]);

function verdictOfSamsara(data: unknown): Verdict {
  const crash = crashOfSamsara(data);
  if (crash?.dismissed) return 'dismissed';
  return crash && crash.level > 1 ? 'confirmed' : undefined;
}

/** The verdict in the provider's own records, which Terminal gives along with an event. */
function verdictOf(item: unknown): Verdict {
  const verdicts = itemsAt(item, 'raw').map((one) => rules.get(providerOf(one))?.(dataOf(one)));
  return verdicts.includes('dismissed')
    ? 'dismissed'
    : verdicts.find((verdict) => verdict !== undefined);
}
