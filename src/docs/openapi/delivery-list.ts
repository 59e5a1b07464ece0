import { webhookIsPaused } from '../../webhooks/deliveries/policy.ts';
import { deliveryFilters } from '../../webhooks/deliveries/schema.ts';
import { ref } from './components.ts';
import {
  idParameter,
  pageRefusals,
  parameter,
  parameterRef,
  rangeRefusals,
  refused,
  unknownId,
} from './lists.ts';
import type { Operation, Refused } from './operation.ts';

const { from, to, ...filters } = deliveryFilters;

/** The list of deliveries, an addition to the specification. */
export const deliveryList: Operation = {
  call: 'get /deliveries',
  id: 'listDeliveries',
  summary: 'List deliveries',
  description:
    'The deliveries to your webhooks of the last 30 days, with their status. Webhook by webhook, in the order of ' +
    'their ids, and oldest first for each; with `eventId`, by level; with `status=pending`, in the order in which ' +
    'they will be tried. Nothing repeats or goes missing while you page, except that a pending one that is tried ' +
    'meanwhile can be listed twice. This list is our addition to the specification.',
  parameters: [
    parameterRef('limit'),
    parameterRef('cursor'),
    parameter(
      'from',
      from,
      'Only those created at this time or later: RFC 3339, or a date, which means midnight UTC.',
    ),
    parameter('to', to, 'Only those created before this time.'),
    parameter('webhookId', filters.webhookId, 'Only those for this webhook.'),
    parameter('status', filters.status, 'Only those with this status.'),
    parameter('type', filters.type, 'Only those about accidents (1) or events (2).'),
    parameter('eventId', filters.eventId, 'Only those about this event, or this accident.'),
  ],
  reply: {
    name: 'DeliveryPage',
    message: 'Deliveries',
    data: { type: 'array', items: ref('DeliverySummary') },
    paged: true,
  },
  refusals: [
    ...pageRefusals(),
    ...rangeRefusals(false),
    ...Object.entries(filters).map(([name, schema]) => refused(name, schema, ['?'])),
    'Invalid webhook id',
  ],
};

type Action = Pick<Operation, 'call' | 'id' | 'summary' | 'description'> & {
  message: string;
  refusals: Refused[];
};

const ofDelivery = ({ message, ...operation }: Action): Operation => ({
  ...operation,
  description: `${operation.description} Our addition to the specification.`,
  parameters: [idParameter('The Delivery-Id.', 'DeliverySummary')],
  reply: { name: 'DeliverySummaryReply', message, data: ref('DeliverySummary') },
  others: unknownId,
});

/** One delivery, and its actions. */
export const deliveryActions: Operation[] = [
  ofDelivery({
    call: 'get /deliveries/{id}',
    id: 'getDelivery',
    summary: 'Get one delivery',
    description: 'As the list shows it.',
    message: 'Delivery',
    refusals: [],
  }),
  ofDelivery({
    call: 'post /deliveries/{id}/replay',
    id: 'replayDelivery',
    summary: 'Replay a delivery',
    description: 'Sends a finished delivery again under its Delivery-Id, with a new retry schedule.',
    message: 'Replayed',
    refusals: [
      'This delivery is pending, send it now instead',
      'This delivery is too old to be replayed',
      'The webhook does not subscribe to this notification any more',
    ],
  }),
  ofDelivery({
    call: 'post /deliveries/{id}/send',
    id: 'sendDelivery',
    summary: 'Send a pending delivery now',
    description: "Ignores any wait, except that of an accident's level for the previous one.",
    message: 'Delivery is due',
    refusals: ['This delivery has ended, replay it instead', webhookIsPaused],
  }),
];
