import { deliveryFilters } from '../../webhooks/deliveries/schema.ts';
import { ref } from './components.ts';
import { examples } from './examples.ts';
import { pageRefusals, parameter, parameterRef, rangeRefusals, refused } from './lists.ts';
import type { Operation } from './operation.ts';

const { from, to, ...filters } = deliveryFilters;

/** The list of deliveries: our addition to the specification. */
export const deliveryList: Operation = {
  method: 'get',
  path: '/deliveries',
  id: 'listDeliveries',
  tag: 'Deliveries',
  summary: 'List deliveries',
  description:
    'What has become of the notifications for your webhooks in the last 30 days. Webhook by webhook, in the order of ' +
    'their ids, and oldest first for each; with `eventId`, by level; with `status=pending`, in the order in which ' +
    'they will be tried. Nothing repeats or goes missing while you page, except that a pending one that is tried ' +
    'meanwhile can come again. This list is our addition to the specification.',
  security: 'ApiToken',
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
    example: [examples.DeliverySummary],
    paged: true,
  },
  refusals: [
    ...pageRefusals(),
    ...rangeRefusals(false),
    ...Object.entries(filters).map(([name, schema]) => refused(name, schema, ['?'])),
    { message: 'Invalid webhook id' },
  ],
};
