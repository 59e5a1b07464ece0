import * as v from 'valibot';
import { EmailAddress } from '../../core/platform/fields.ts';
import { accidentLevels } from '../../core/webhooks/notifications/types.ts';
import type { Operation } from '../../extras/operation.ts';
import { count, countUpTo, described, id, time } from '../../extras/replies.ts';
import { maxAccountsCounted, maxFailedCounted, maxPendingCounted } from './counted.ts';

export const Health = v.object({
  database: v.picklist(['ok', 'unavailable']),
  queueBacklog: v.nullable(count),
  oldestDueSeconds: v.nullable(count),
  sweptSecondsAgo: v.nullable(count),
  size: v.nullable(v.object({ bytes: count, share: v.number(), daysLeft: v.nullable(count) })),
});
export type Health = v.InferOutput<typeof Health>;

export const AccidentsInTime = v.object({
  count: described(
    count,
    'First attempts of accidents, and accidents that wait for theirs longer than 5 s.',
  ),
  inTime: described(v.nullable(v.number()), 'The share first attempted within 5 s, from 0 to 1.'),
});

const account = { accountId: id, account: v.string() };

export const FailingWebhook = v.object({
  webhookId: id,
  url: v.string(),
  ...account,
  failed: described(
    countUpTo(maxFailedCounted),
    'Deliveries that failed permanently within a day.',
  ),
  failures: described(count, 'How many attempts in a row have failed.'),
  openUntil: described(v.nullable(time), 'Until when nothing is sent to it.'),
  failedAttempts: described(count, 'How many attempts have failed in the last 24 hours.'),
  retrying: described(countUpTo(maxFailedCounted), 'How many deliveries will be attempted again.'),
  lastFailure: v.nullable(v.object({ kind: v.string(), status: v.nullable(count) })),
  nextAttemptAt: v.nullable(time),
});

/** One of these whose receiver has been paused for so long that users were alerted. */
export const PausedWebhook = v.object({
  webhookId: id,
  url: v.string(),
  ...account,
  pausedSince: time,
});

export const AilingConnection = v.object({
  connectionId: id,
  ...account,
  name: v.string(),
  healthStatus: v.pipe(v.number(), v.metadata({ type: 'integer', enum: [2, 3, 4] })),
  lastPulledAt: v.nullable(time),
});

/** A connection whose accidents nobody is notified of. */
export const UncoveredConnection = v.object({ connectionId: id, ...account, name: v.string() });

/** A delivery of an accident that has not succeeded yet. */
export const WaitingAccident = v.object({
  deliveryId: id,
  webhookId: id,
  url: v.nullable(v.string()),
  ...account,
  level: v.pipe(v.number(), v.metadata({ type: 'integer', enum: [...accidentLevels] })),
  createdAt: time,
  attempts: count,
  nextAttemptAt: time,
});

/** What a key of ENCRYPTION_KEYS has encrypted, even one that is no longer configured. */
export const HeaderKey = v.object({
  key: v.string(),
  encrypts: described(
    count,
    'How much it has encrypted. An older key that has encrypted nothing can go.',
  ),
  known: described(
    v.boolean(),
    'Whether ENCRYPTION_KEYS has it. If not, what it has encrypted cannot be used.',
  ),
  newest: v.boolean(),
});

export type HeaderKey = v.InferOutput<typeof HeaderKey>;

/** A deletion or erasure that fails. */
export const FailedDeletion = v.object({
  id,
  accountId: id,
  account: v.nullable(v.string()),
  problem: v.string(),
});

/** An account that is being moved to another cell: its requests get 503. */
export const UnfinishedMove = v.object({
  ...account,
  to: v.string(),
  state: v.string(),
  since: time,
  isOverdue: described(
    v.boolean(),
    'Whether it takes longer than expected, such as after an interruption.',
  ),
});

const deliveryStatus = {
  pending: countUpTo(maxPendingCounted),
  due: countUpTo(maxPendingCounted),
  later: countUpTo(maxPendingCounted),
  oldestPendingAt: v.nullable(time),
  accidentsInTime: described(
    v.object({ hour: AccidentsInTime, day: AccidentsInTime }),
    'Those of this hour (UTC), and of this hour and the 23 before.',
  ),
  accidents: described(
    v.array(WaitingAccident),
    'Those that have waited for over 30 s, the oldest first.',
  ),
  failing: v.array(FailingWebhook),
  paused: v.array(PausedWebhook),
  connections: v.array(AilingConnection),
  uncovered: described(
    v.array(UncoveredConnection),
    'Connections whose accidents nobody is notified of, at most 20, among the 10,000 newest.',
  ),
  deletions: described(v.array(FailedDeletion), 'Those that fail, at most 20.'),
  moves: described(v.array(UnfinishedMove), 'Accounts that are being moved from here, at most 20.'),
  encryptionKeys: v.array(HeaderKey),
};
const DeliveryStatus = v.object(deliveryStatus);
export type DeliveryStatus = v.InferInput<typeof DeliveryStatus>;

export const StatusReport = v.object({
  problem: v.nullable(v.string()),
  warning: v.nullable(v.string()),
  health: Health,
  ...deliveryStatus,
});
export type StatusReport = v.InferOutput<typeof StatusReport>;

export const Cell = v.object({
  name: v.string(),
  accounts: countUpTo(maxAccountsCounted),
  bytes: count,
  share: v.number(),
  eventsPerDay: count,
  fullOn: v.nullable(v.pipe(v.string(), v.metadata({ format: 'date' }))),
});
export type Cell = v.InferOutput<typeof Cell>;

/** The schema that the database must have, as fingerprints of its entries. */
export const ServiceCheck = v.object({
  schema: v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(200)), 'must be a list of texts'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(500, 'can have at most 500 values'),
  ),
  writes: described(
    v.optional(v.boolean()),
    'Whether to ingest into an account that is deleted again.',
  ),
  email: described(v.optional(EmailAddress), 'An address to send an email to.'),
});
export type ServiceCheck = v.InferOutput<typeof ServiceCheck>;

export const Check = v.object({
  name: v.picklist([
    'schema',
    'database',
    'refusals',
    'scheduled jobs',
    'replicas',
    'archive',
    'queue',
    'background work',
    'ingest',
    'plan',
    'queries of a batch',
    'KV',
    'outgoing calls',
    'Analytics Engine',
    'email',
  ]),
  result: v.picklist(['ok', 'off', 'warning', 'fault']),
  ms: count,
  detail: v.string(),
});
export type Check = v.InferOutput<typeof Check>;

export const serviceOperations = {
  status: {
    call: 'GET /status',
    summary: 'Show the state of the service, and which webhooks fail',
    description:
      'Counts stop at 10,000, and failed deliveries of a webhook at 100. These values mean that many or more.',
    reply: StatusReport,
  },
  showCell: {
    call: 'GET /cell',
    summary: 'Show how full this cell is',
    description:
      'Counts of accounts stop at 10,000. `eventsPerDay` is the safety events of yesterday, UTC, and `fullOn` the day ' +
      'when the database is full at the rate of the last two weeks.',
    reply: Cell,
  },
  checkService: {
    call: 'POST /check',
    summary: 'Check the dependencies of the service',
    description:
      'What `npm run deploy -- --check` calls. It writes and reads a key of KV, an object of R2 and a few rows, and ' +
      'sends two messages through the queue. It takes some 25 s, and at most two minutes.',
    body: ServiceCheck,
    reply: v.array(Check),
  },
} satisfies Record<string, Operation>;
