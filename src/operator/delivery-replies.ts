import * as v from 'valibot';
import { timestamp, timestampOrNull } from '../platform/fields.ts';
import { type Delivery, statuses } from '../webhooks/deliveries/queries.ts';
import type { Receiver } from '../webhooks/deliveries/receivers.ts';
import { maxReplayCounted } from '../webhooks/deliveries/replayable.ts';
import { accidentLevels, EVENT_LEVEL, notificationTypes } from '../webhooks/notifications/types.ts';
import { HealthOutput } from './health/schema.ts';
import type { Status } from './homes/status.ts';
import { maxFailedCounted, maxPendingCounted } from './status.ts';

/** What the operator's routes return of webhooks, deliveries, and how the service stands. */
const id = v.pipe(v.string(), v.uuid());
const time = v.pipe(v.string(), v.isoTimestamp());

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
