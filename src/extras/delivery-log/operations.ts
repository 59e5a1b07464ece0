import * as v from 'valibot';
import { limitUpTo, TimeOrDay } from '../../core/platform/fields.ts';
import {
  maxCallsPerSecond,
  statuses,
  widestWindow,
} from '../../core/webhooks/deliveries/policy.ts';
import {
  accidentLevels,
  EVENT_LEVEL,
  notificationTypes,
} from '../../core/webhooks/notifications/types.ts';
import { FiltersOutput } from '../filters/filters.ts';
import { type Operation, Uuid, wholeNumber } from '../operation.ts';
import { count, countUpTo, described, id, time } from '../replies.ts';
import { maxReplayedPerCall } from './schema.ts';

const callLimit = v.nullable(v.pipe(v.number(), v.metadata({ type: 'integer', minimum: 1 })));

export const WebhookHealth = v.object({
  id,
  url: v.string(),
  failures: count,
  openUntil: v.nullable(time),
  pausedAt: v.optional(v.nullable(time)),
  maxInFlight: callLimit,
  maxPerSecond: callLimit,
  window: described(
    v.pipe(v.number(), v.metadata({ type: 'integer', minimum: 0 })),
    'How many calls it may have in flight now; 0 while nothing is sent to it.',
  ),
  filters: v.optional(FiltersOutput),
  allConnections: v.optional(v.literal(true)),
});

/** A missing limit stays unchanged; null removes it. */
export const ReceiverLimits = v.object({
  maxInFlight: wholeNumber(1, widestWindow),
  maxPerSecond: wholeNumber(1, maxCallsPerSecond),
});

export const AttemptEntry = v.object({
  at: time,
  durationMs: v.number(),
  result: v.string(),
  status: v.optional(count),
  reason: described(v.optional(v.string()), 'What else is known of a failure, in words.'),
  answer: v.optional(v.string()),
  retryAfter: v.optional(described(v.number(), 'In milliseconds.')),
});

export const Delivery = v.object({
  id,
  webhookId: id,
  eventId: id,
  type: v.pipe(v.number(), v.metadata({ type: 'integer', enum: [...notificationTypes] })),
  level: v.pipe(
    v.number(),
    v.metadata({ type: 'integer', enum: [EVENT_LEVEL, ...accidentLevels] }),
  ),
  status: v.picklist(statuses),
  attempts: count,
  nextAttemptAt: v.nullable(time),
  finishedAt: v.nullable(time),
  requestId: v.nullable(id),
  log: described(v.array(AttemptEntry), 'The first attempt and the latest 20, oldest first.'),
  attemptsOmitted: count,
});
export type Delivery = v.InferOutput<typeof Delivery>;

/** With the URL of its webhook; null if that was deleted. */
export const ShownDelivery = v.object({ ...Delivery.entries, url: v.nullable(v.string()) });

export const FoundDelivery = v.object({
  url: v.string(),
  ...v.pick(Delivery, [
    'id',
    'webhookId',
    'eventId',
    'level',
    'status',
    'attempts',
    'nextAttemptAt',
  ]).entries,
  accountId: id,
  account: v.string(),
  name: described(v.nullable(v.string()), 'The name of its webhook.'),
  createdAt: time,
  last: described(v.nullable(AttemptEntry), 'Its latest attempt.'),
});
export type FoundDelivery = v.InferOutput<typeof FoundDelivery>;

const selection = { since: v.optional(TimeOrDay), until: v.optional(TimeOrDay) };

export const ReplayRange = v.object({
  ...selection,
  includeDelivered: v.optional(v.boolean()),
  after: v.optional(Uuid),
});

export const ReplayCount = v.object({
  count: countUpTo(maxReplayedPerCall),
  more: v.boolean(),
  tooOld: countUpTo(maxReplayedPerCall),
});
export type ReplayCount = v.InferOutput<typeof ReplayCount>;

export const Replayed = v.object({ replayed: count, more: v.boolean(), next: v.optional(id) });
export type Replayed = v.InferOutput<typeof Replayed>;

export const tag = ['Deliveries', 'Deliveries of notifications to webhooks.'] as const;

export const operations = {
  listWebhookHealth: {
    call: 'GET /accounts/:id/webhooks',
    summary: "List an account's webhooks with the health of their receivers",
    reply: v.array(WebhookHealth),
  },
  limitReceiver: {
    call: 'PATCH /webhooks/:id/limits',
    summary: 'Limit the calls to a webhook',
    body: ReceiverLimits,
    reply: WebhookHealth,
  },
  pauseWebhook: {
    call: 'POST /webhooks/:id/pause',
    summary: 'Pause a webhook, as its account can',
    description: 'Deliveries wait for up to five days.',
    reply: WebhookHealth,
  },
  resumeWebhook: {
    call: 'POST /webhooks/:id/resume',
    summary: 'Resume a webhook that its account or an operator has paused',
    reply: WebhookHealth,
  },
  listDeliveries: {
    call: 'GET /deliveries',
    summary: "List a webhook's deliveries",
    description: 'Newest first, pending ones as due; at most 500, among the newest 1,000.',
    query: v.object({
      webhookId: Uuid,
      status: v.optional(v.picklist(statuses, `must be one of ${statuses.join(', ')}`)),
      since: v.optional(TimeOrDay),
      before: v.optional(Uuid),
      limit: v.optional(limitUpTo(500), '50'),
    }),
    reply: v.array(Delivery),
  },
  findDeliveries: {
    call: 'GET /deliveries/find',
    summary: 'Find deliveries of all accounts by an event, a VIN or a vehicle',
    description:
      'Give one of the three. By a VIN or vehicle, the deliveries of its 20 latest events and accidents of the last 30 ' +
      'days. Newest first.',
    query: v.object({
      eventId: v.optional(Uuid),
      vin: v.optional(v.string()),
      vehicleId: v.optional(Uuid),
    }),
    reply: v.array(FoundDelivery),
  },
  getDelivery: {
    call: 'GET /deliveries/:id',
    summary: 'Show a delivery with all its attempts',
    reply: ShownDelivery,
  },
  replayDelivery: {
    call: 'POST /deliveries/:id/replay',
    summary: 'Replay a finished delivery',
    reply: Replayed,
  },
  sendDelivery: {
    call: 'POST /deliveries/:id/send',
    summary: 'Send a pending delivery now, ignoring any wait',
    description: 'A level of an accident still waits for the one before it.',
    reply: ShownDelivery,
  },
  countReplay: {
    call: 'GET /webhooks/:id/replay',
    summary: 'Count what a replay would send again',
    description: 'Looks at no more than 5,000 deliveries, as a replay does.',
    query: v.object({
      ...selection,
      includeDelivered: v.optional(
        v.pipe(
          v.picklist(['true', 'false'], 'must be true or false'),
          v.transform((text) => text === 'true'),
        ),
        'false',
      ),
      after: v.optional(Uuid),
    }),
    reply: ReplayCount,
  },
  replayWebhook: {
    call: 'POST /webhooks/:id/replay',
    summary: 'Replay what a webhook has missed, or all of its deliveries',
    description:
      'At most 5,000 per call, oldest first. Deliveries that are too old are left out, and so are those that the ' +
      'webhook does not subscribe to. Receivers get each under its Delivery-Id, also those that they have received ' +
      'before.',
    body: ReplayRange,
    reply: Replayed,
  },
} satisfies Record<string, Operation>;
