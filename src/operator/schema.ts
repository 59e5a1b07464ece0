import * as v from 'valibot';
import { Email } from '../accounts/people.ts';
import { statuses } from '../deliveries/queries.ts';
import { Timestamp } from '../fields.ts';
import { HealthOutput } from '../health/schema.ts';
import { isIncidentType } from '../incidents/types.ts';
import { mostFailed, mostPending } from './status.ts';

/** What the operator's routes take, and what they answer. */
const Name = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'can be at most 200 characters'),
);

export const NewAccount = v.object({ name: Name });

export const AccountChange = v.object({
  status: v.picklist(['active', 'suspended'], 'must be active or suspended'),
});

const isTypeMap = (input: unknown): input is Record<string, string[]> =>
  typeof input === 'object' &&
  input !== null &&
  Object.values(input).every(
    (types) => Array.isArray(types) && types.every((type) => typeof type === 'string'),
  );
const IncidentTypeMap = v.pipe(
  v.custom<Record<string, string[]>>(isTypeMap, "must map the provider's words to lists of types"),
  v.check(
    (map) => Object.values(map).flat().every(isIncidentType),
    'must map to normalised incident types alone',
  ),
  v.metadata({ type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } }),
);

export const NewConnection = v.object({
  provider: v.pipe(
    v.string(),
    v.toLowerCase(),
    v.regex(/^[a-z0-9-]{1,40}$/, 'must be letters, digits and hyphens, at most 40'),
  ),
  name: v.optional(Name),
  tSP: v.optional(Name),
  incidentTypeMap: v.optional(IncidentTypeMap),
});

export const ConnectionChange = v.object({
  name: v.optional(Name),
  tSP: v.optional(Name),
  healthStatus: v.optional(
    v.pipe(
      v.picklist([1, 2, 3, 4], 'must be 1 (healthy), 2 (warning), 3 (unavailable) or 4 (degraded)'),
      v.metadata({ type: 'integer' }),
    ),
  ),
  incidentTypeMap: v.optional(IncidentTypeMap),
});

export const NewToken = v.object({
  name: Name,
  expiresAt: v.optional(
    v.pipe(
      Timestamp,
      v.check((ms) => ms > Date.now(), 'must be in the future'),
    ),
  ),
});

export const NewUser = v.object({ email: Email });

export const ReplayRange = v.object({ since: v.optional(Timestamp), until: v.optional(Timestamp) });

export const DeliveryQuery = v.object({
  webhookId: v.pipe(v.string(), v.uuid('must be a UUID')),
  status: v.optional(v.picklist(statuses, `must be one of ${statuses.join(', ')}`)),
  since: v.optional(Timestamp),
  before: v.optional(v.pipe(v.string(), v.uuid('must be a UUID'))),
  limit: v.optional(
    v.pipe(
      v.string(),
      v.transform(Number),
      v.integer('must be a whole number'),
      v.minValue(1, 'must be at least 1'),
    ),
    '50',
  ),
});

const id = v.pipe(v.string(), v.uuid());
const time = v.pipe(v.string(), v.isoTimestamp());

export const AccountOutput = v.object({
  id,
  name: v.string(),
  status: v.picklist(['active', 'suspended']),
  createdAt: time,
});
export type AccountOutput = v.InferOutput<typeof AccountOutput>;

export const ConnectionOutput = v.object({
  id,
  accountId: id,
  name: v.nullable(v.string()),
  provider: v.string(),
  tSP: v.string(),
  healthStatus: v.pipe(v.number(), v.integer(), v.values([1, 2, 3, 4])),
  incidentTypeMap: v.nullable(v.record(v.string(), v.array(v.string()))),
  createdAt: time,
  updatedAt: time,
});
export type ConnectionOutput = v.InferOutput<typeof ConnectionOutput>;

export const TokenOutput = v.object({
  id,
  connectionId: v.nullable(id),
  scope: v.picklist(['api', 'ingest']),
  name: v.string(),
  lastFour: v.string(),
  createdAt: time,
  expiresAt: v.nullable(time),
  lastUsedAt: v.nullable(time),
  revokedAt: v.nullable(time),
});
export type TokenOutput = v.InferOutput<typeof TokenOutput>;

export const IssuedToken = v.object({ ...TokenOutput.entries, value: v.string() });

export const UserOutput = v.object({
  id,
  accountId: id,
  email: v.string(),
  createdAt: time,
  lastSignInAt: v.nullable(time),
});
export type UserOutput = v.InferOutput<typeof UserOutput>;

export const SignInLink = v.object({ url: v.string() });

export const WebhookHealth = v.object({
  id,
  url: v.string(),
  failures: v.pipe(v.number(), v.integer()),
  openUntil: v.nullable(time),
});

export const FailingWebhook = v.object({
  webhookId: id,
  accountId: id,
  account: v.string(),
  failed: v.pipe(v.number(), v.integer(), v.maxValue(mostFailed)),
  failures: v.pipe(v.number(), v.integer()),
  openUntil: v.nullable(time),
});

const count = v.pipe(v.number(), v.integer(), v.maxValue(mostPending));

export const StatusOutput = v.object({
  problem: v.nullable(v.string()),
  health: HealthOutput,
  pending: count,
  due: count,
  later: count,
  oldestPendingAt: v.nullable(time),
  failing: v.array(FailingWebhook),
});
export type StatusOutput = v.InferOutput<typeof StatusOutput>;

export const Replayed = v.object({ replayed: v.pipe(v.number(), v.integer()), more: v.boolean() });

export const AttemptEntry = v.object({
  at: time,
  durationMs: v.number(),
  result: v.string(),
  status: v.optional(v.pipe(v.number(), v.integer())),
  answer: v.optional(v.string()),
  retryAfter: v.optional(v.number()),
});

export const DeliveryOutput = v.object({
  id,
  webhookId: id,
  eventId: id,
  type: v.pipe(v.number(), v.integer(), v.values([1, 2])),
  level: v.pipe(v.number(), v.integer(), v.values([0, 1, 2, 3])),
  status: v.picklist(statuses),
  attempts: v.pipe(v.number(), v.integer()),
  nextAttemptAt: v.nullable(time),
  finishedAt: v.nullable(time),
  requestId: v.nullable(id),
  log: v.array(AttemptEntry),
});
export type DeliveryOutput = v.InferOutput<typeof DeliveryOutput>;
