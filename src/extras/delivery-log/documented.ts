import { safetyEvents } from '../../core/fleet/lists/safety-events.ts';
import { ref } from '../../docs/openapi/components.ts';
import type { Operation, Operations } from '../../docs/openapi/document.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import { examples, exampleWebhookId } from '../../docs/openapi/examples.ts';
import {
  emptyRange,
  idParameter,
  pageParameters,
  query,
  rangeParameters,
  refused,
  unknownId,
} from '../../docs/openapi/lists.ts';
import { action } from '../../docs/openapi/webhooks.ts';
import { wordsOf } from '../../docs/openapi/words.ts';
import { isAsDue, needsWebhook } from './list.ts';
import {
  DeliveryAttempt,
  DeliveryDetails,
  DeliverySummary,
  deliveryFilters,
  LastAnswer,
  maxReplayedPerCall,
  ReplayInput,
  ReplayOutcome,
  TestInput,
  TestSent,
  webhookIsPaused,
} from './schema.ts';

const { itemExample: event } = safetyEvents;
const delivery = '01a1fc72-832c-703a-8362-7c4a9c12c554';
const lastAnswer = { status: 503, kind: 'status', at: '2026-11-20T20:00:02.114Z' };
const deliveryAttempt = { ...lastAnswer, durationMs: 84, answer: 'Service Unavailable' };
const deliverySummary = {
  id: delivery,
  webhookId: exampleWebhookId,
  eventId: event.id,
  type: 2,
  level: null,
  status: 'pending',
  attempts: 1,
  nextAttemptAt: '2026-11-20T20:00:07.198Z',
  createdAt: '2026-11-20T20:00:02.092Z',
  lastAnswer,
};

const { webhookId, status, type, eventId, order } = deliveryFilters;

const ofWebhook = query('webhookId', webhookId, 'Only those for this webhook.');

const ofOrder = query(
  'order',
  order,
  'With `webhookId`, `newest` lists the newest first. A cursor is good for its order only.',
);

const listDeliveries: Operation = {
  call: 'get /deliveries',
  summary: 'List deliveries',
  description:
    'The deliveries to your webhooks of the last 30 days, with their status. Webhook by webhook, in the order of ' +
    'their ids, and oldest first for each; with `eventId`, by level; with `status=pending`, in the order in which ' +
    'they will be tried. Nothing repeats or goes missing while you page, except that a pending one that is tried ' +
    'meanwhile can be listed twice.',
  parameters: [
    ...pageParameters,
    ...rangeParameters(
      'Only those created at this time or later: RFC 3339, or a date, which means midnight UTC.',
      'Only those created before this time.',
    ),
    { ...ofWebhook, refusals: [...(ofWebhook.refusals ?? []), 'Invalid webhook id'] },
    query('status', status, 'Only those with this status.'),
    query('type', type, 'Only those about accidents (1) or events (2).'),
    query('eventId', eventId, 'Only those about this event, or this accident.'),
    {
      ...ofOrder,
      refusals: [
        ...(ofOrder.refusals ?? []),
        { field: 'order', must: needsWebhook },
        { field: 'order', must: isAsDue },
      ],
    },
  ],
  reply: {
    name: 'DeliveryPage',
    message: 'Deliveries',
    data: { type: 'array', items: ref('DeliverySummary') },
    paged: true,
  },
};

type Action = Pick<Operation, 'call' | 'summary' | 'description'> & {
  message: string;
  refusals: string[];
  data?: string;
  example?: object;
};

const ofDelivery = ({
  message,
  data = 'DeliverySummary',
  example,
  ...operation
}: Action): Operation => ({
  ...operation,
  parameters: [{ written: idParameter('The Delivery-Id.', deliverySummary.id) }],
  reply: { name: `${data}Reply`, message, data: ref(data), ...(example && { example }) },
  others: unknownId('delivery'),
});

const deliveryOperations: Operations = {
  listDeliveries,
  getDelivery: ofDelivery({
    call: 'get /deliveries/{id}',
    summary: 'Get one delivery',
    description: 'As the list shows it, with what is sent and its attempts.',
    message: 'Delivery',
    data: 'DeliveryDetails',
    refusals: [],
  }),
  replayDelivery: ofDelivery({
    call: 'post /deliveries/{id}/replay',
    summary: 'Replay a delivery',
    description:
      'Sends a finished delivery again under its Delivery-Id, with a new retry schedule.',
    message: 'Replayed',
    example: { ...deliverySummary, attempts: 0 },
    refusals: [
      'This delivery is pending, send it now instead',
      'This delivery is too old to be replayed',
      'The webhook does not subscribe to this notification any more',
    ],
  }),
  sendDelivery: ofDelivery({
    call: 'post /deliveries/{id}/send',
    summary: 'Send a pending delivery now',
    description: "Ignores any wait, except that of an accident's level for the previous one.",
    message: 'Delivery is due',
    refusals: ['This delivery has ended, replay it instead', webhookIsPaused],
  }),
};

const { after, dryRun, includeDelivered } = ReplayInput.entries;
const { type: testType, level } = TestInput.entries;

const webhookOperations: Operations = {
  replayWebhook: {
    ...action('replay'),
    summary: 'Replay what a webhook has missed',
    description:
      `Sends again what failed or was cancelled, up to ${maxReplayedPerCall.toLocaleString('en')} deliveries per call, each under its Delivery-Id; ` +
      'with `includeDelivered`, also what was delivered. While there is `more`, call again with `next` as `after`. ' +
      'Pending deliveries are skipped, so a repeated call sends nothing twice unless it includes what was delivered.',
    body: 'ReplayInput',
    reply: { name: 'ReplayReply', message: 'Counted', data: ref('ReplayOutcome') },
    refusals: [
      emptyRange,
      refused('after', after, '?'),
      refused('includeDelivered', includeDelivered, '?'),
      refused('dryRun', dryRun, '?'),
    ],
  },
  testWebhook: {
    ...action('test'),
    summary: 'Send a test',
    description:
      'Sends a made-up event, a level of a made-up accident, or all three levels, three seconds apart, to this webhook ' +
      'alone, marked `TEST` and whatever its filters.',
    body: 'TestInput',
    reply: { name: 'TestReply', message: 'Test sent', data: ref('TestSent') },
    refusals: [
      refused('type', testType, '?'),
      refused('level', level, '?'),
      { field: 'level', must: 'is for accidents alone' },
      'This webhook has no connections, so nothing is sent to it',
      'This webhook does not subscribe to that type of notification',
      webhookIsPaused,
    ],
  },
};

const ofSummary = {
  id: 'The Delivery-Id, the same on each attempt.',
  status:
    '`pending` until it is delivered or has failed for good; `cancelled` when the webhook no longer subscribes ' +
    'to it.',
  level: "The accident's level; null for an event.",
  nextAttemptAt: 'When it is due next; null unless it is pending.',
  createdAt: 'When the notification was received.',
};

const ofAnswer = {
  status: "The receiver's HTTP status; null if there was none.",
  at: 'When that attempt was made.',
  kind: 'success, status, redirect, timeout, dns, tls, connection, token or blocked address; there may be more in future.',
  reason:
    'What else is known of a failure, in words: where a redirect leads, or what the token endpoint returned.',
};

export const documented: Documented = {
  operations: { Webhooks: webhookOperations, Deliveries: deliveryOperations },
  schemas: {
    DeliverySummary,
    DeliveryDetails,
    DeliveryAttempt,
    LastAnswer,
    ReplayInput,
    ReplayOutcome,
    TestInput,
    TestSent,
  },
  examples: {
    DeliverySummary: deliverySummary,
    DeliveryDetails: {
      ...deliverySummary,
      payload: examples.EventNotification,
      attemptLog: [deliveryAttempt],
      attemptsOmitted: 0,
    },
    DeliveryAttempt: deliveryAttempt,
    LastAnswer: lastAnswer,
    ReplayInput: { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00Z', dryRun: true },
    ReplayOutcome: { count: 12, more: false, tooOld: 0 },
    TestInput: { type: 1, level: 1 },
    TestSent: { eventId: event.id, deliveryIds: [delivery] },
  },
  words: {
    ReplayInput: 'Which deliveries to replay: without properties, all that the webhook has missed.',
    'ReplayInput.from': 'Only deliveries created at this time or later.',
    'ReplayInput.to': 'Only deliveries created before this time.',
    dryRun: 'Whether only to count them.',
    ReplayOutcome: 'How many deliveries are sent again.',
    'ReplayOutcome.count': 'How many are sent again; in a dry run, how many would be.',
    'ReplayOutcome.more': 'Whether there are more after those that this call read.',
    'ReplayOutcome.next': 'If there are more: the Delivery-Id to continue with as `after`.',
    'ReplayOutcome.tooOld':
      'In a dry run: how many are too old to be replayed; 5,000 means that many or more.',
    TestInput: 'What to test a webhook with.',
    'TestInput.type': '1 an accident, 2 an event.',
    'TestInput.level': 'The level of the accident; without it, all three.',
    TestSent: 'The test that was sent.',
    'TestSent.eventId': 'The event or accident of the test.',
    deliveryIds: 'The Delivery-Ids, in the order in which they are sent.',
    ...wordsOf('DeliverySummary', 'One notification for one webhook, and its status.', ofSummary),
    ...wordsOf('DeliveryDetails', 'The same, with what is sent and its attempts.', {
      ...ofSummary,
      payload: 'What is sent as `data`; null past retention.',
      attemptLog: 'The first attempt and the latest 20.',
      attemptsOmitted: 'How many attempts between them are not kept.',
    }),
    ...wordsOf('LastAnswer', 'The result of the latest attempt.', ofAnswer),
    ...wordsOf('DeliveryAttempt', 'The result of an attempt.', {
      ...ofAnswer,
      durationMs: 'How long it took, in milliseconds.',
      answer: 'The beginning of the response that failed, up to 1 KiB.',
    }),
    webhookId: 'The webhook that it is for.',
    attempts: 'How many attempts have been made on its current schedule.',
    lastAnswer: 'The result of the latest attempt; null before the first.',
    includeDelivered:
      'Whether to send delivered ones again too, or only those that failed or were cancelled.',
    after: 'Only deliveries that follow this Delivery-Id.',
    maxInFlight: "The operators' limit of calls at a time; null: up to 50.",
    maxPerSecond: "The operators' limit of calls a second; null: no limit.",
    since: 'Only deliveries created at this time or later.',
    until: 'Only deliveries created before this time.',
    before: 'Only those older than this Delivery-Id.',
    'countReplay.includeDelivered': 'Whether to count those that were delivered, too.',
    'listDeliveries.since': 'Only those since this time.',
    'listDeliveries.status': 'Only those with this status.',
    'listDeliveries.webhookId': "The webhook's id.",
  },
};
