import * as v from 'valibot';
import { accidents } from '../fleet/lists/accidents.ts';
import { dayMs } from '../platform/durations.ts';
import type { ProviderRecord } from './connector.ts';
import { at, idAt } from './read.ts';

/** A provider's data about a crash: its level, its report, and its force. */
export type Crash = {
  vin: unknown;
  level: number;
  dismissed: boolean;
  reportUrl: unknown;
  severity?: unknown;
  accelerationG?: unknown;
};

// An accident is not refused because of these fields: only valid ones are given.
const { maxSpeedKph, accelerationG, severity, detectedAt, driverId: driver } = accidents.fields;
const optional = Object.entries({ driver, maxSpeedKph, accelerationG, severity, detectedAt });

/**
 * The records of an accident: one per level reached, since each is notified once, or one that dismisses it. None
 * without a VIN and a place: until both are known it stays a safety event.
 */
export function crashRecords(
  { sourceId, sourceUpdatedAt, startedAt, location, ...event }: ProviderRecord,
  { vin, level, dismissed, reportUrl, accelerationG: force, ...crash }: Crash,
): ProviderRecord[] {
  if (vin === null || location === null) return [];
  const accelerationG = typeof force === 'number' ? Math.abs(force) : undefined;
  const said: { [name: string]: unknown } = { ...event, detectedAt: event.issuedOn, ...crash, accelerationG };
  const record = {
    kind: 'accident' as const,
    sourceId,
    sourceUpdatedAt,
    eventTime: startedAt,
    vin,
    location,
    ...Object.fromEntries(
      optional.flatMap(([name, { input }]) => (v.is(input, said[name]) ? [[name, said[name]]] : [])),
    ),
  };
  if (dismissed) return [{ ...record, notificationLevel: 1, dismissed: true }];
  return Array.from({ length: level }, (_, i) => ({
    ...record,
    notificationLevel: i + 1,
    ...(i === 2 && { reportUrl }),
  }));
}

/** A crash that may still be dismissed, stored in a feed's cursor. */
export type OpenCrash = {
  id: string;
  vin: string;
  startedAt: string;
  location: { latitude: number; longitude: number };
  /** The level reached. */
  level: number;
  /** When it was first seen (milliseconds since 1970), if that confirms it. */
  seenAt?: number;
};

/** How long crashes stay open; later they are never dismissed. */
export const openDays = 7;

/** How many of the newest are kept; the others keep their level. */
const mostOpen = 100;

/** Whether it can be dismissed later, and is short enough to store. */
const isOpenCrash = (crash: { [key in keyof OpenCrash]: unknown }): crash is OpenCrash =>
  [crash.id, crash.vin, crash.startedAt].every((text) => typeof text === 'string' && text.length <= 64) &&
  Number.isFinite(Date.parse(String(crash.startedAt))) &&
  ['latitude', 'longitude'].every((name) => typeof at(crash.location, name) === 'number');

/** The records that dismiss a crash. `sourceUpdatedAt` is the time of the version that does so, if there is one. */
export const dismissed = (
  { id, vin, startedAt, location }: OpenCrash,
  sourceUpdatedAt?: unknown,
): ProviderRecord[] =>
  crashRecords(
    { kind: 'safetyEvent', sourceId: id, sourceUpdatedAt, startedAt, location },
    { vin, level: 1, dismissed: true, reportUrl: null },
  );

const stillOpen = (open: OpenCrash[], now: number): OpenCrash[] =>
  open
    .filter(({ startedAt }) => Date.parse(startedAt) >= now - openDays * dayMs)
    .sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt) || (a.id < b.id ? -1 : 1))
    .slice(0, mostOpen);

/**
 * What an item says: its event, and how far its crash has come if it is one. `isKnown` says that none of this is to be
 * reported, and `seenAt` is kept of the crash while it is open.
 */
export type Assessment = {
  event: ProviderRecord;
  crash?: Crash | undefined;
  isKnown?: boolean;
  seenAt?: number;
};

/**
 * The records of items, read one after the other: their events, and the levels of an accident for a crash, or what
 * dismisses one that is no crash any more. Returns the crashes that are open after it too.
 */
export function follow(
  items: unknown[],
  before: OpenCrash[],
  now: number,
  read: (item: unknown, known: OpenCrash | undefined) => Assessment,
): { records: ProviderRecord[]; open: OpenCrash[] } {
  const open = new Map<unknown, OpenCrash>(before.map((crash) => [crash.id, crash]));
  const records = items.flatMap((item) => {
    const id = idAt(item, 'id');
    const known = open.get(id);
    open.delete(id);
    const { event, crash, isKnown, seenAt } = read(item, known);
    const notified = isKnown ? [] : [event];
    if (!crash) return [...notified, ...(known ? dismissed(known, event.sourceUpdatedAt) : [])];
    const { startedAt, location } = event;
    const next = { id, vin: crash.vin, startedAt, location, level: crash.level, ...(seenAt && { seenAt }) };
    if (!crash.dismissed && isOpenCrash(next)) open.set(id, next);
    return isKnown ? [] : [event, ...crashRecords(event, crash)];
  });
  return { records, open: stillOpen([...open.values()], now) };
}
