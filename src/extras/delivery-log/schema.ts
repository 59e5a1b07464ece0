import * as v from 'valibot';
import { TimeOrDay, UtcTime, Uuid, Whole } from '../../core/platform/fields.ts';
import {
  Limit,
  QueryChoice,
  QueryCode,
  QueryCursor,
  QueryId,
  QueryTime,
} from '../../core/platform/query.ts';
import { statuses } from '../../core/webhooks/deliveries/policy.ts';
import {
  AccidentNotification,
  EventNotification,
} from '../../core/webhooks/notifications/payloads.ts';
import {
  ACCIDENT,
  accidentLevels,
  Level,
  NotificationCode,
  notificationTypes,
} from '../../core/webhooks/notifications/types.ts';

export const deliveryFilters = {
  webhookId: QueryId,
  status: QueryChoice(statuses, `must be one of ${statuses.join(', ')}`),
  type: QueryCode(notificationTypes, 'must be 1 (accident) or 2 (event)'),
  eventId: QueryId,
  from: QueryTime,
  to: QueryTime,
  order: QueryChoice(['oldest', 'newest'], 'must be oldest or newest'),
};

export const DeliveryListQuery = v.object({
  limit: Limit,
  cursor: QueryCursor,
  ...v.partial(v.object(deliveryFilters)).entries,
});
export type DeliveryListQuery = v.InferOutput<typeof DeliveryListQuery>;

export const LastAnswer = v.object({
  status: v.nullable(Whole),
  kind: v.string(),
  at: UtcTime,
  reason: v.optional(v.string()),
});

/** A delivery as clients list it: without payload, and of the response only the status. */
export const DeliverySummary = v.object({
  id: Uuid,
  webhookId: Uuid,
  eventId: Uuid,
  type: v.pipe(v.number(), v.integer(), v.values(notificationTypes)),
  level: v.nullable(v.pipe(v.number(), v.integer(), v.values(accidentLevels))),
  status: v.picklist(statuses),
  attempts: Whole,
  nextAttemptAt: v.nullable(UtcTime),
  createdAt: UtcTime,
  lastAnswer: v.nullable(LastAnswer),
});
export type DeliverySummary = v.InferOutput<typeof DeliverySummary>;

/** An attempt; one that failed has the first KiB of the response. */
export const DeliveryAttempt = v.object({
  ...LastAnswer.entries,
  durationMs: Whole,
  answer: v.optional(v.string()),
});

/** A delivery by itself: with what is sent, until that is deleted, and its attempts. */
export const DeliveryDetails = v.object({
  ...DeliverySummary.entries,
  payload: v.nullable(v.union([EventNotification, AccidentNotification])),
  attemptLog: v.array(DeliveryAttempt),
  attemptsOmitted: Whole,
});
export type DeliveryDetails = v.InferOutput<typeof DeliveryDetails>;

export const maxReplayedPerCall = 5000;

export const webhookIsPaused = 'This webhook is paused, resume it first';

export const ReplayInput = v.strictObject({
  from: v.optional(TimeOrDay),
  to: v.optional(TimeOrDay),
  includeDelivered: v.optional(v.boolean('must be true or false')),
  after: v.optional(v.pipe(v.string(), v.uuid('must be a UUID'), v.toLowerCase())),
  dryRun: v.optional(v.boolean('must be true or false')),
});

export const ReplayOutcome = v.object({
  count: Whole,
  more: v.boolean(),
  next: v.optional(Uuid),
  tooOld: v.optional(Whole),
});
export type ReplayOutcome = v.InferOutput<typeof ReplayOutcome>;

/** A test of a webhook; without a level, all levels of an accident. */
export const TestInput = v.pipe(
  v.strictObject({
    type: NotificationCode,
    level: v.optional(Level),
  }),
  v.forward(
    v.check(
      ({ type, level }) => type === ACCIDENT || level === undefined,
      'is for accidents alone',
    ),
    ['level'],
  ),
);
export type TestInput = v.InferOutput<typeof TestInput>;

export const TestSent = v.object({
  eventId: Uuid,
  deliveryIds: v.array(Uuid),
});
export type TestSent = v.InferOutput<typeof TestSent>;
