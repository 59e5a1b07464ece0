import { retries, webhookIsPaused } from '../../core/webhooks/deliveries/policy.ts';
import { isAsDue, needsWebhook } from '../../extras/delivery-log/list.ts';
import { deliveryFilters } from '../../extras/delivery-log/schema.ts';
import { type Json, ref } from './components.ts';
import { type Operation, type Operations, requestBody } from './document.ts';
import { idParameter, pageParameters, query, rangeParameters, unknownId } from './lists.ts';

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
};

const ofDelivery = ({ message, data = 'DeliverySummary', ...operation }: Action): Operation => ({
  ...operation,
  parameters: [{ written: idParameter('The Delivery-Id.', 'DeliverySummary') }],
  reply: { name: `${data}Reply`, message, data: ref(data) },
  others: unknownId('delivery'),
});

export const deliveryOperations: Operations = {
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

/** The calls of receivers: the `webhooks` of the document. */
export const deliveries = (): Json => ({
  event: delivery({
    id: 'eventDelivery',
    summary: 'A safety event',
    description:
      'Type 2: one of your vehicles braked hard, nearly crashed, or similar. You are notified of each event once.',
    body: 'EventDelivery',
  }),
  accident: delivery({
    id: 'accidentDelivery',
    summary: 'A level of an accident',
    description:
      'Type 1: 1 first detection, 2 verified, 3 report-ready. You are notified of each level once, in no ' +
      'guaranteed order; all levels of one accident share `eventId`.',
    body: 'AccidentDelivery',
  }),
});

const how =
  'POST, or PUT if the webhook says so, with the custom headers of the webhook. ' +
  `Respond within ${retries.timeoutSeconds} seconds. Failed attempts are retried after about ${retries.waitsAsText}. ` +
  `Accidents are retried sooner at first: after ${retries.accidentWaits}.`;

const header = (name: string, description: string, schema: Json, required = true): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema,
});

/** The headers of a call besides the webhook's; the last three if it is signed. */
const headers = [
  header('Delivery-Id', 'The same on every attempt: use it to ignore repeats.', {
    type: 'string',
    format: 'uuid',
  }),
  header('Delivery-Attempt', 'The number of this attempt, from 1.', {
    type: 'integer',
    minimum: 1,
  }),
  header(
    'User-Agent',
    'FleetDataService and its version, unless the webhook has a header with this name.',
    {
      type: 'string',
      examples: ['FleetDataService/0.1.0'],
    },
  ),
  ...Object.entries({
    'webhook-id': 'the Delivery-Id',
    'webhook-timestamp': 'when this attempt began, in seconds since 1970',
    'webhook-signature': '`v1,` and an HMAC-SHA256 in base64, for each secret',
  }).map(([name, meaning]) =>
    header(
      name,
      `If deliveries are [signed](/docs/signatures): ${meaning}.`,
      { type: 'string' },
      false,
    ),
  ),
];

const later = {
  description: 'Retried later. Retry-After, in seconds or as a date, can double the wait at most.',
};

type Call = Record<'id' | 'summary' | 'description' | 'body', string>;

function delivery({ id, summary, description, body }: Call): Json {
  return {
    post: {
      operationId: id,
      tags: ['Deliveries'],
      summary,
      description: `${description} ${how}`,
      // A secret among the custom headers, or a signature, authenticates them.
      security: [],
      parameters: headers,
      requestBody: requestBody(body),
      responses: {
        '2XX': { description: 'Delivered. At most 4 KiB of the response are read.' },
        410: { description: 'Not wanted: the delivery fails permanently.' },
        429: later,
        503: later,
        default: {
          description: 'Anything else, including redirects, is a failure and is retried.',
        },
      },
    },
  };
}
