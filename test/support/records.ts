import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { dayMs } from '#src/core/platform/durations.ts';

/** So many of something. */
export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** Yesterday evening: safety events that are older than a week notify nobody. */
export const recently = `${new Date(Date.now() - dayMs).toISOString().slice(0, 10)}T20:00:00.000Z`;

/** So many milliseconds before now. */
export const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

/** A time as the API writes it. */
export const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** After whatever a test does. */
export const later = Date.now() + 1e9;

/** Records that are valid as they stand. */
export const vehicle = (changes: object = {}) => ({
  kind: 'vehicle',
  sourceId: 'truck-1',
  name: 'Truck 1',
  vin: '1FUJGLDR5CLBP8834',
  groups: ['North'],
  ...changes,
});
export const driver = (changes: object = {}) => ({
  kind: 'driver',
  sourceId: 'driver-1',
  name: 'Ann',
  ...changes,
});
export const trip = (changes: object = {}) => ({
  kind: 'trip',
  sourceId: 'trip-1',
  vehicle: 'truck-1',
  startedAt: '2026-11-20T19:00:00Z',
  ...changes,
});
export const safetyEvent = (changes: object = {}) => ({
  kind: 'safetyEvent',
  sourceId: 'event-1',
  vehicle: 'truck-1',
  incidentTypes: ['hard_brake'],
  startedAt: recently,
  recipients: ['safety@example.com'],
  ...changes,
});
export const accident = (changes: object = {}) => ({
  kind: 'accident',
  sourceId: 'crash-1',
  vin: '1FUJGLDR5CLBP8834',
  eventTime: '2026-11-20T20:00:00Z',
  location: { latitude: 39.7392, longitude: -104.9903 },
  notificationLevel: 1,
  ...changes,
});

/** One record of each kind that webhooks are not told of, as examples give them. */
export const exampleRecords = recordKinds
  .filter(({ kind }) => kind !== 'safetyEvent' && kind !== 'accident')
  .map(({ recordExample }) => recordExample);
