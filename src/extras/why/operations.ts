import * as v from 'valibot';
import { limitUpTo, TimeOrDay } from '../../core/platform/fields.ts';
import { statuses } from '../../core/webhooks/deliveries/policy.ts';
import { AttemptEntry } from '../delivery-log/operations.ts';
import { type Operation, Uuid } from '../operation.ts';
import { count, described, id, time } from '../replies.ts';

const webhook = { webhookId: id, name: v.nullable(v.string()), url: v.string() };

export const WhyIncident = v.object({
  kind: v.picklist(['event', 'accident']),
  eventId: id,
  accountId: id,
  account: v.string(),
  what: v.array(v.string()),
  eventRisk: described(v.nullable(count), 'Of an event.'),
  at: time,
  receivedAt: time,
  vehicle: v.nullable(v.string()),
  vin: v.nullable(v.string()),
  connectionId: id,
  connection: v.nullable(v.string()),
  deliveries: v.array(
    v.object({
      id,
      ...webhook,
      level: count,
      status: v.picklist(statuses),
      attempts: count,
      createdAt: time,
      nextAttemptAt: v.nullable(time),
      pausedAt: v.nullable(time),
      last: v.nullable(AttemptEntry),
    }),
  ),
  complete: described(v.boolean(), 'Whether these are all of its deliveries.'),
  unnotified: described(
    v.array(v.object({ ...webhook, why: v.string() })),
    'The webhooks without a delivery, of the 50 oldest, and why, as far as that is known.',
  ),
  alerted: described(
    v.array(
      v.object({
        name: v.string(),
        isChannel: v.boolean(),
        at: v.nullable(time),
        isWaiting: v.boolean(),
      }),
    ),
    'The people and channels that were notified of an accident. Those of events are not recorded.',
  ),
});
export type WhyIncident = v.InferOutput<typeof WhyIncident>;

export const tag = ['Incidents', 'What came in, and who was notified of it.'] as const;

export const operations = {
  explain: {
    call: 'GET /why',
    summary: 'Show what came in, who was notified of it, and why a webhook was not',
    description:
      'Give an `eventId`, which may be that of an accident, or a `vehicleId` or `driverId`: their events and accidents ' +
      'from `from` to `to`, by default of the last 30 days, newest first, at most 20. Without any, the list is empty.',
    query: v.object({
      eventId: v.optional(Uuid),
      vehicleId: v.optional(Uuid),
      driverId: v.optional(Uuid),
      from: v.optional(TimeOrDay),
      to: v.optional(TimeOrDay),
      limit: v.optional(limitUpTo(20), '20'),
    }),
    reply: v.array(WhyIncident),
  },
} satisfies Record<string, Operation>;
