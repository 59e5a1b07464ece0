import * as v from 'valibot';
import { Timestamp } from '../fields.ts';

// What a check knows and JSON Schema can say stands beside it as metadata, for the API's document.

const text = (most: number) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(most, `can be at most ${most} characters`),
    v.check((value) => value.isWellFormed() && !value.includes('\0'), 'must be valid Unicode text'),
  );
const texts = (most: number, each: number) =>
  v.pipe(v.array(text(each)), v.maxLength(most, `can be at most ${most}`));
const number = (least: number, most: number) =>
  v.pipe(
    v.number(),
    v.check((value) => value >= least && value <= most, `must be from ${least} to ${most}`),
    v.metadata({ minimum: least, maximum: most }),
  );
const integer = (least: number, most: number) =>
  v.pipe(
    v.number(),
    v.check(
      (value) => Number.isInteger(value) && value >= least && value <= most,
      `must be a whole number from ${least} to ${most}`,
    ),
    v.metadata({ type: 'integer', minimum: least, maximum: most }),
  );

const SourceId = text(200);
export const Location = v.object({ latitude: number(-90, 90), longitude: number(-180, 180) });
export const VehicleLocation = v.object({
  ...Location.entries,
  altitudeMeters: v.nullish(number(-1000, 20_000), null),
  speedKph: v.nullish(number(0, 1000), null),
  timestamp: v.pipe(
    Timestamp,
    v.transform((ms) => new Date(ms).toISOString()),
  ),
});
const common = { sourceId: SourceId, sourceUpdatedAt: v.nullish(Timestamp) };

export const Driver = v.object({
  kind: v.literal('driver'),
  ...common,
  name: text(200),
  email: v.nullish(v.pipe(text(320), v.email('must be an email address'))),
  phone: v.nullish(text(50)),
  licenseState: v.nullish(text(50)),
  licenseNumber: v.nullish(text(50)),
  status: v.nullish(
    v.pipe(v.picklist([0, 1], 'must be 1 (active) or 0 (inactive)'), v.metadata({ type: 'integer' })),
  ),
});

export const Vehicle = v.object({
  kind: v.literal('vehicle'),
  ...common,
  name: text(200),
  vin: v.nullish(text(40)),
  groups: v.nullish(texts(100, 200)),
  status: v.nullish(v.picklist(['active', 'inactive'], 'must be active or inactive')),
  make: v.nullish(text(100)),
  model: v.nullish(text(100)),
  year: v.nullish(integer(1900, 2100)),
  fuelType: v.nullish(text(50)),
  licensePlate: v.nullish(text(40)),
  odometerKm: v.nullish(number(0, 100_000_000)),
  lastLocation: v.nullish(VehicleLocation),
});

export const Trip = v.object({
  kind: v.literal('trip'),
  ...common,
  vehicle: SourceId,
  driver: v.nullish(SourceId),
  startedAt: Timestamp,
  endedAt: v.nullish(Timestamp),
  startLocation: v.nullish(Location),
  endLocation: v.nullish(Location),
  distanceKm: v.nullish(number(0, 100_000)),
  durationSeconds: v.nullish(number(0, 100_000_000)),
});

export const SafetyEvent = v.object({
  kind: v.literal('safetyEvent'),
  ...common,
  vehicle: SourceId,
  driver: v.nullish(SourceId),
  trip: v.nullish(SourceId),
  incidentTypes: v.pipe(texts(50, 100), v.minLength(1, 'must have at least one value')),
  eventRisk: v.nullish(integer(1, 5)),
  startedAt: Timestamp,
  issuedOn: v.nullish(Timestamp),
  endedAt: v.nullish(Timestamp),
  location: v.nullish(Location),
  maxSpeedKph: v.nullish(number(0, 1000)),
  speedLimitKph: v.nullish(number(0, 1000)),
  recipients: v.nullish(
    v.pipe(
      v.array(v.pipe(text(320), v.email('must be an email address'))),
      v.maxLength(100, 'can be at most 100'),
    ),
  ),
});

export const Accident = v.object({
  kind: v.literal('accident'),
  ...common,
  vin: text(40),
  eventTime: Timestamp,
  location: Location,
  notificationLevel: integer(1, 3),
  reportReady: v.nullish(v.boolean()),
  isAccurate: v.nullish(v.boolean()),
});

/** One thing that a connector sends in (design 8). */
export const IngestRecord = v.variant(
  'kind',
  [Driver, Vehicle, Trip, SafetyEvent, Accident],
  'must be driver, vehicle, trip, safetyEvent or accident',
);
export type IngestRecord = v.InferOutput<typeof IngestRecord>;
export type Kind = IngestRecord['kind'];
export type RecordOf<K extends Kind> = Extract<IngestRecord, { kind: K }>;

/** The body of `POST /ingest`; its records are checked one by one, so that good ones land. */
export const IngestBody = v.object({
  records: v.pipe(
    v.array(v.unknown()),
    v.minLength(1, 'must have at least one record'),
    v.maxLength(500, 'can be at most 500 records'),
  ),
  notify: v.optional(v.boolean(), true),
});

/** A record that was refused: its place in the call, its sourceId where it has one, and why. */
export const Rejection = v.object({
  index: v.pipe(v.number(), v.integer()),
  sourceId: v.nullable(v.string()),
  message: v.string(),
});
export type Rejection = v.InferOutput<typeof Rejection>;

/** What became of a call: `accepted` changed something, `unchanged` was known, or older than what is. */
export const Outcome = v.object({
  accepted: v.pipe(v.number(), v.integer()),
  unchanged: v.pipe(v.number(), v.integer()),
  rejected: v.array(Rejection),
});
export type Outcome = v.InferOutput<typeof Outcome>;
