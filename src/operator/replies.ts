import * as v from 'valibot';
import type { Account } from '../accounts/accounts.ts';
import type { Connection } from '../accounts/connections.ts';
import type { PortalUser } from '../accounts/people.ts';
import type { Entry } from '../audit/list.ts';
import { actions, subjects } from '../audit/note.ts';
import type { Deletion } from '../deletion/state.ts';
import { stepNames } from '../deletion/steps.ts';
import { type Delivery, statuses } from '../deliveries/queries.ts';
import type { Receiver } from '../deliveries/receivers.ts';
import { maxReplayCounted } from '../deliveries/replay-count.ts';
import { timestamp, timestampOrNull } from '../fields.ts';
import { HealthOutput } from '../health/schema.ts';
import { accidentLevels, EVENT_LEVEL, notificationTypes } from '../notifications/types.ts';
import { roles } from '../roles.ts';
import type { Token } from '../tokens/service.ts';
import { maxFailedCounted, maxPendingCounted, type Status } from './status.ts';

/** What the operator's routes return: the schema of each thing, and how it is presented. */
const id = v.pipe(v.string(), v.uuid());
const time = v.pipe(v.string(), v.isoTimestamp());

export const AccountOutput = v.object({
  id,
  name: v.string(),
  status: v.picklist(['active', 'suspended']),
  createdAt: time,
});
export type AccountOutput = v.InferOutput<typeof AccountOutput>;

export const presentAccount = ({ createdAt, ...account }: Account): AccountOutput => ({
  ...account,
  createdAt: timestamp(createdAt),
});

export const AuditEntry = v.object({
  at: time,
  accountId: id,
  actor: v.picklist(['operator', 'person', 'token', 'service']),
  actorId: v.nullable(id),
  actorName: v.nullable(v.string()),
  action: v.picklist(actions),
  subject: v.picklist(subjects),
  subjectId: id,
  subjectName: v.nullable(v.string()),
  /** What was changed, by name. */
  fields: v.array(v.string()),
});
export type AuditEntry = v.InferOutput<typeof AuditEntry>;

export const presentAuditEntry = ({ at, seq: _, ...entry }: Entry): AuditEntry => ({
  at: timestamp(at),
  ...entry,
});

/** A deletion, or an erasure. */
export const DeletionOutput = v.object({
  id,
  kind: v.picklist(['account', 'connection', 'driver']),
  accountId: id,
  requestedAt: time,
  /** When it begins. Until then it can be cancelled. */
  dueAt: time,
  /** Null until it has begun, and once it is done. */
  step: v.nullable(v.string()),
  /** How many steps are done, and how many there are. */
  stepsDone: v.pipe(v.number(), v.integer()),
  steps: v.pipe(v.number(), v.integer()),
});
export type DeletionOutput = v.InferOutput<typeof DeletionOutput>;

export const presentDeletion = ({
  id,
  kind,
  accountId,
  requestedAt,
  dueAt,
  step,
}: Deletion): DeletionOutput => ({
  id,
  kind,
  accountId,
  requestedAt: timestamp(requestedAt),
  dueAt: timestamp(dueAt),
  step,
  stepsDone: step === null ? 0 : stepNames(kind).indexOf(step),
  steps: stepNames(kind).length,
});

/** How a deletion stands; null once nothing is left to do. */
export const DeletionProgress = v.object({ deletion: v.nullable(DeletionOutput) });

export const presentProgress = (deletion: Deletion | undefined): v.InferOutput<typeof DeletionProgress> => ({
  deletion: deletion ? presentDeletion(deletion) : null,
});

export const ConnectionOutput = v.object({
  id,
  accountId: id,
  name: v.nullable(v.string()),
  provider: v.string(),
  tSP: v.string(),
  healthStatus: v.pipe(v.number(), v.integer(), v.values([1, 2, 3, 4])),
  incidentTypeMap: v.nullable(v.record(v.string(), v.array(v.string()))),
  lastPulledAt: v.nullable(time),
  createdAt: time,
  updatedAt: time,
});
export type ConnectionOutput = v.InferOutput<typeof ConnectionOutput>;

export const presentConnection = ({
  tsp,
  lastPulledAt,
  createdAt,
  updatedAt,
  ...connection
}: Connection): ConnectionOutput => ({
  ...connection,
  tSP: tsp,
  lastPulledAt: timestampOrNull(lastPulledAt),
  createdAt: timestamp(createdAt),
  updatedAt: timestamp(updatedAt),
});

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

export const presentToken = ({
  createdAt,
  expiresAt,
  lastUsedAt,
  revokedAt,
  ...token
}: Token): TokenOutput => ({
  ...token,
  createdAt: timestamp(createdAt),
  expiresAt: timestampOrNull(expiresAt),
  lastUsedAt: timestampOrNull(lastUsedAt),
  revokedAt: timestampOrNull(revokedAt),
});

export const IssuedToken = v.object({ ...TokenOutput.entries, value: v.string() });

export const UserOutput = v.object({
  id,
  accountId: id,
  email: v.string(),
  /** What they may do: an admin everything, a member everything but people and tokens, a viewer only read. */
  role: v.picklist(roles),
  createdAt: time,
  lastSignInAt: v.nullable(time),
  /** Invited, and yet to sign in for the first time. */
  pending: v.boolean(),
});
export type UserOutput = v.InferOutput<typeof UserOutput>;

export const presentUser = ({
  createdAt,
  lastSignInAt,
  confirmedAt,
  getsAlerts: _,
  timeZone: __,
  ...user
}: PortalUser): UserOutput => ({
  ...user,
  pending: confirmedAt === null,
  createdAt: timestamp(createdAt),
  lastSignInAt: timestampOrNull(lastSignInAt),
});

export const SignInLink = v.object({ url: v.string() });

const callLimit = v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)));

export const WebhookHealth = v.object({
  id,
  url: v.string(),
  failures: v.pipe(v.number(), v.integer()),
  openUntil: v.nullable(time),
  maxInFlight: callLimit,
  maxPerSecond: callLimit,
  window: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
export type WebhookHealth = v.InferOutput<typeof WebhookHealth>;

export const presentWebhook = ({ openUntil, ...receiver }: Receiver & { url: string }): WebhookHealth => ({
  ...receiver,
  openUntil: timestampOrNull(openUntil),
});

export const FailingWebhook = v.object({
  webhookId: id,
  accountId: id,
  account: v.string(),
  failed: v.pipe(v.number(), v.integer(), v.maxValue(maxFailedCounted)),
  failures: v.pipe(v.number(), v.integer()),
  openUntil: v.nullable(time),
  failedAttempts: v.pipe(v.number(), v.integer()),
  retrying: v.pipe(v.number(), v.integer(), v.maxValue(maxFailedCounted)),
  lastFailure: v.nullable(
    v.object({ kind: v.string(), status: v.nullable(v.pipe(v.number(), v.integer())) }),
  ),
  nextAttemptAt: v.nullable(time),
});

export const PausedWebhook = v.object({
  webhookId: id,
  accountId: id,
  account: v.string(),
  pausedSince: time,
});

const count = v.pipe(v.number(), v.integer(), v.maxValue(maxPendingCounted));

export const AilingConnection = v.object({
  connectionId: id,
  accountId: id,
  account: v.string(),
  name: v.string(),
  healthStatus: v.pipe(v.number(), v.integer(), v.values([2, 3, 4])),
  lastPulledAt: v.nullable(time),
});

export const StatusOutput = v.object({
  problem: v.nullable(v.string()),
  warning: v.nullable(v.string()),
  health: HealthOutput,
  pending: count,
  due: count,
  later: count,
  oldestPendingAt: v.nullable(time),
  failing: v.array(FailingWebhook),
  paused: v.array(PausedWebhook),
  connections: v.array(AilingConnection),
});
export type StatusOutput = v.InferOutput<typeof StatusOutput>;

export const presentStatus = ({
  oldestPendingAt,
  failing,
  paused,
  connections,
  ...rest
}: Status): StatusOutput => ({
  ...rest,
  oldestPendingAt: timestampOrNull(oldestPendingAt),
  failing: failing.map(({ openUntil, nextAttemptAt, lastFailure, ...webhook }) => ({
    ...webhook,
    openUntil: timestampOrNull(openUntil),
    lastFailure: lastFailure && { kind: lastFailure.result, status: lastFailure.status ?? null },
    nextAttemptAt: timestampOrNull(nextAttemptAt),
  })),
  connections: connections.map(({ lastPulledAt, ...connection }) => ({
    ...connection,
    lastPulledAt: timestampOrNull(lastPulledAt),
  })),
  paused: paused.map(({ pausedSince, ...webhook }) => ({ ...webhook, pausedSince: timestamp(pausedSince) })),
});

export const Replayed = v.object({
  replayed: v.pipe(v.number(), v.integer()),
  more: v.boolean(),
  next: v.optional(id),
});

export const ReplayCount = v.object({
  count: v.pipe(v.number(), v.integer(), v.maxValue(maxReplayCounted)),
  more: v.boolean(),
  tooOld: v.pipe(v.number(), v.integer(), v.maxValue(maxReplayCounted)),
});

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
  type: v.pipe(v.number(), v.integer(), v.values(notificationTypes)),
  level: v.pipe(v.number(), v.integer(), v.values([EVENT_LEVEL, ...accidentLevels])),
  status: v.picklist(statuses),
  attempts: v.pipe(v.number(), v.integer()),
  nextAttemptAt: v.nullable(time),
  finishedAt: v.nullable(time),
  requestId: v.nullable(id),
  log: v.array(AttemptEntry),
  attemptsOmitted: v.pipe(v.number(), v.integer()),
});
export type DeliveryOutput = v.InferOutput<typeof DeliveryOutput>;

export const presentDelivery = ({
  nextAttemptAt,
  finishedAt,
  log,
  ...delivery
}: Delivery): DeliveryOutput => ({
  ...delivery,
  nextAttemptAt: delivery.status === 'pending' ? timestamp(nextAttemptAt) : null,
  finishedAt: timestampOrNull(finishedAt),
  log: log.map(({ at, ...entry }) => ({ at: timestamp(at), ...entry })),
});
