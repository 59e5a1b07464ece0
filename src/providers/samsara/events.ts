import type { ProviderRecord } from '../connector.ts';
import { crashRecords } from '../crash.ts';
import { at, field, idAt } from '../read.ts';
import { placeIn, tripId } from './records.ts';

/** States in which a person has looked at an event and let it stand. */
const confirmed = ['reviewed', 'needsCoaching', 'coached'];
/** Praise is no safety event. */
const praise = ['needsRecognition', 'recognized'];
/** Labels that say nothing of what happened. */
const isIncident = (label: string) =>
  !/^(?:context|invalid$|defensivedriving$|falsepositive$|unknown$|event$)/i.test(label);

/** Whether an event says that something happened: one whose labels were all taken away does not. */
export const isWorthTelling = (item: unknown): boolean =>
  labelsOf(item).some(({ label }) => isIncident(label)) && !praise.includes(String(at(item, 'eventState')));

/** A safety event of `/safety-events/stream`, and the levels of an accident if it is a crash. */
export function eventRecords(item: unknown): ProviderRecord[] {
  const labels = labelsOf(item);
  const driver = idAt(item, 'driver', 'id');
  const event: ProviderRecord = {
    kind: 'safetyEvent',
    sourceId: field(item, 'id'),
    sourceUpdatedAt: field(item, 'updatedAtTime'),
    vehicle: field(item, 'asset', 'id'),
    driver,
    trip: tripId(at(item, 'asset', 'id'), at(item, 'tripStartTime')),
    incidentTypes: labels.map(({ label }) => label),
    startedAt: field(item, 'startMs'), // a time as text, in spite of its name
    endedAt: field(item, 'endMs'),
    issuedOn: field(item, 'createdAtTime'),
    location: placeIn(item, 'location'),
    maxSpeedKph: field(item, 'speedingMetadata', 'maxSpeedKilometersPerHour'),
    speedLimitKph: field(item, 'speedingMetadata', 'postedSpeedLimitKilometersPerHour'),
  };
  const crash = crashOf(item);
  return crash ? [event, ...crashRecords(event, { vin: field(item, 'asset', 'vin'), ...crash })] : [event];
}

/**
 * How far a crash has come; undefined for what is none. That Samsara offers a report says nothing: it always does. An event that was
 * dismissed as minor was a crash all the same.
 */
export function crashOf(item: unknown) {
  const labels = labelsOf(item);
  const crash = labels.find(({ label }) => /^crash$/i.test(label));
  if (!crash) return undefined;
  const state = String(at(item, 'eventState'));
  const isMinor = state === 'dismissed' && at(item, 'dismissalReason', 'code') === 'minorEvent';
  const isInvalid = labels.some(({ label }) => /^invalid$/i.test(label));
  const media = at(item, 'media');
  const isConfirmed = confirmed.includes(state) || isMinor || crash.source === 'userGenerated';
  const hasEvidence = (Array.isArray(media) && media.length > 0) || state === 'coached';
  return {
    dismissed: isInvalid || (state === 'dismissed' && !isMinor),
    level: isConfirmed ? (hasEvidence ? 3 : 2) : 1,
    reportUrl: isConfirmed && hasEvidence ? field(item, 'incidentReportUrl') : null,
  };
}

type Label = { label: string; source: unknown };

function labelsOf(item: unknown): Label[] {
  const labels = at(item, 'behaviorLabels');
  if (!Array.isArray(labels)) return [];
  return labels.flatMap((one) => {
    const label = at(one, 'label');
    return typeof label === 'string' && label !== '' ? [{ label, source: at(one, 'source') }] : [];
  });
}

/** What an event or a trip says of its vehicle, for when that is not known yet. */
export const vehicleOfEvent = (item: unknown): ProviderRecord => ({
  kind: 'vehicle',
  sourceId: field(item, 'asset', 'id'),
  name: field(item, 'asset', 'name') ?? field(item, 'asset', 'id'),
  vin: field(item, 'asset', 'vin'),
});
