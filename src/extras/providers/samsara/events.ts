import type { ProviderRecord } from '../connector/connector.ts';
import type { Assessment } from '../connector/crash.ts';
import {
  at,
  field,
  fittingGroups,
  idAt,
  itemsAt,
  msOf,
  place,
  sameFields,
  secondsBetween,
  usableVin,
  yearIn,
} from '../connector/read.ts';

/** States in which a person has reviewed an event and not dismissed it. */
const confirmed = ['reviewed', 'needsCoaching', 'coached'];
const praise = ['needsRecognition', 'recognized'];
/** Whether a label describes an incident. */
const isIncident = (label: string) =>
  !/^(?:context|invalid$|defensivedriving$|falsepositive$|unknown$|event$)/i.test(label);

/** Whether an event describes an incident: one without labels does not. */
const isWorthTelling = (item: unknown): boolean =>
  labelsOf(item).some(({ label }) => isIncident(label)) &&
  !praise.includes(String(at(item, 'eventState')));

/** A safety event; one without an incident dismisses a crash alone. */
export function assess(item: unknown): Assessment {
  const event: ProviderRecord = {
    kind: 'safetyEvent',
    sourceId: field(item, 'id'),
    sourceUpdatedAt: field(item, 'updatedAtTime'),
    vehicle: field(item, 'asset', 'id'),
    driver: idAt(item, 'driver', 'id'),
    trip: tripId(at(item, 'asset', 'id'), at(item, 'tripStartTime')),
    incidentTypes: labelsOf(item).map(({ label }) => label),
    startedAt: field(item, 'startMs'), // a time as text, despite its name
    endedAt: field(item, 'endMs'),
    issuedOn: field(item, 'createdAtTime'),
    location: placeIn(item, 'location'),
    maxSpeedKph: field(item, 'speedingMetadata', 'maxSpeedKilometersPerHour'),
    speedLimitKph: field(item, 'speedingMetadata', 'postedSpeedLimitKilometersPerHour'),
    withdrawn: isFalse(item) || null,
  };
  const crash = crashOf(item);
  const [vin, accelerationG] = [vinOf(at(item, 'asset')), field(item, 'maxAccelerationGForce')];
  return {
    event,
    crash: crash && { vin, accelerationG, ...crash },
    isKnown: !isWorthTelling(item),
  };
}

const isMinor = (item: unknown): boolean =>
  at(item, 'eventState') === 'dismissed' && at(item, 'dismissalReason', 'code') === 'minorEvent';

/** Whether an event is a false detection. One that was dismissed as minor happened all the same. */
export const isFalse = (item: unknown): boolean =>
  labelsOf(item).some(({ label }) => /^invalid$/i.test(label)) ||
  (at(item, 'eventState') === 'dismissed' && !isMinor(item));

/** The state of a crash; undefined if it is none. */
export function crashOf(item: unknown) {
  const crash = labelsOf(item).find(({ label }) => /^crash$/i.test(label));
  if (!crash) return undefined;
  const state = String(at(item, 'eventState'));
  const isConfirmed =
    confirmed.includes(state) || isMinor(item) || crash.source === 'userGenerated';
  const media = itemsAt(item, 'media');
  const isReady = isConfirmed && (media.length > 0 || state === 'coached');
  return {
    dismissed: isFalse(item),
    level: isReady ? 3 : isConfirmed ? 2 : 1,
    reportUrl: isReady ? field(item, 'incidentReportUrl') : null,
    evidence: isReady ? evidenceOf(item) : [],
    isLacking: isReady && media.some((one) => field(one, 'url') === null),
  };
}

/** What links to the media of an event, videos unless their address says otherwise. */
const evidenceOf = (item: unknown): object[] =>
  itemsAt(item, 'media').flatMap((one) => {
    const url = field(one, 'url');
    if (url === null) return [];
    const isPhoto = /\.(?:jpe?g|png|webp)$/i.test(URL.parse(String(url))?.pathname ?? '');
    const camera = field(one, 'cameraRole') ?? field(one, 'input');
    return { kind: isPhoto ? 'photo' : 'video', url, camera, takenAt: field(item, 'startMs') };
  });

type Label = { label: string; source: unknown };

function labelsOf(item: unknown): Label[] {
  return itemsAt(item, 'behaviorLabels').flatMap((one) => {
    const label = at(one, 'label');
    return typeof label === 'string' && label !== '' ? [{ label, source: at(one, 'source') }] : [];
  });
}

/** The vehicle in an event or a trip, for when it is unknown. */
export const vehicleOfEvent = (item: unknown): ProviderRecord => ({
  kind: 'vehicle',
  sourceId: field(item, 'asset', 'id'),
  name: field(item, 'asset', 'name') ?? field(item, 'asset', 'id'),
  vin: vinOf(at(item, 'asset')),
});

/** The VIN of a vehicle, which may be among its external ids only. */
const vinOf = (vehicle: unknown): unknown =>
  usableVin(field(vehicle, 'vin'), field(vehicle, 'externalIds', 'samsara.vin'));

/** A vehicle of `/fleet/vehicles`. Units that were never plugged in have few fields. */
export const vehicleRecord = (item: unknown): ProviderRecord => ({
  kind: 'vehicle',
  sourceId: field(item, 'id'),
  sourceUpdatedAt: field(item, 'updatedAtTime'),
  name: field(item, 'name') ?? field(item, 'id'),
  vin: vinOf(item),
  year: yearIn(at(item, 'year')),
  ...sameFields(item, 'make', 'model', 'licensePlate'),
  groups: fittingGroups(itemsAt(item, 'tags').map((tag) => at(tag, 'name'))),
});

export const driverRecord = (item: unknown): ProviderRecord => ({
  kind: 'driver',
  sourceId: field(item, 'id'),
  sourceUpdatedAt: field(item, 'updatedAtTime'),
  name: field(item, 'name') ?? field(item, 'username') ?? field(item, 'id'),
  ...sameFields(item, 'phone', 'licenseState', 'licenseNumber'),
  status: at(item, 'driverActivationStatus') === 'deactivated' ? 0 : 1,
});

/** Trips have no id, but a vehicle begins one at a time. */
export const tripId = (vehicle: unknown, startTime: unknown): string | null => {
  const ms = msOf(startTime);
  return typeof vehicle === 'string' && Number.isFinite(ms) ? `${vehicle}:${ms}` : null;
};

/** A trip of `/trips/stream`, which has neither driver nor distance. */
export function tripRecord(item: unknown): ProviderRecord {
  const [startedAt, endedAt] = [field(item, 'tripStartTime'), field(item, 'tripEndTime')];
  return {
    kind: 'trip',
    sourceId: tripId(at(item, 'asset', 'id'), startedAt),
    sourceUpdatedAt: field(item, 'updatedAtTime'),
    vehicle: field(item, 'asset', 'id'),
    startedAt,
    endedAt,
    startLocation: placeIn(item, 'startLocation'),
    endLocation: placeIn(item, 'endLocation'),
    durationSeconds: secondsBetween(startedAt, endedAt),
  };
}

/** A location under a name. */
const placeIn = (item: unknown, name: string): unknown =>
  place(
    at(item, name, 'latitude'),
    at(item, name, 'longitude'),
    addressOf(at(item, name, 'address')),
  );

/** Any part of Samsara's address can be missing: `11 Market Street, Springfield, California`. */
function addressOf(address: unknown): string {
  const part = (name: string) => {
    const found = at(address, name);
    return typeof found === 'string' ? found.trim() : '';
  };
  const street = [part('streetNumber'), part('street')].filter(Boolean).join(' ');
  return [street || part('pointOfInterest'), part('city'), part('state')]
    .filter(Boolean)
    .join(', ');
}
