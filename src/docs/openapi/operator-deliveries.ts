import {
  deliveryId,
  emptySpan,
  forOperators,
  invalidField,
  listReplyOf,
  noTime,
  notJson,
  query,
  replyOf,
  unknownWebhook,
  webhookId,
} from './operator-parts.ts';

/** Looking at deliveries, and replaying them. */
export const deliveries = forOperators('Deliveries', [
  {
    method: 'get',
    path: '/operator/deliveries',
    id: 'listDeliveries',
    summary: "List a webhook's deliveries",
    description: 'Newest first, at most 500.',
    parameters: [
      query('webhookId', "The webhook's id.", { type: 'string', format: 'uuid' }, true),
      query('status', 'Only those with this status.', {
        type: 'string',
        enum: ['pending', 'delivered', 'failed', 'cancelled'],
      }),
      query('since', 'Only those since this time.', { type: 'string', format: 'date-time' }),
      query('before', 'Only those older than this Delivery-Id.', { type: 'string', format: 'uuid' }),
      query('limit', 'How many to return at most.', { type: 'integer', minimum: 1, default: 50 }),
    ],
    reply: listReplyOf('Delivery', 'Deliveries'),
    refusals: [
      invalidField('webhookId', 'is required'),
      unknownWebhook,
      invalidField('status', 'must be one of pending, delivered, failed, cancelled'),
      noTime,
    ],
  },
  {
    method: 'get',
    path: '/operator/deliveries/{id}',
    id: 'getDelivery',
    summary: 'Show a delivery with all its attempts',
    parameters: [deliveryId],
    reply: replyOf('Delivery', 'Delivery'),
    refusals: [{ message: 'Unknown delivery' }],
  },
  {
    method: 'post',
    path: '/operator/deliveries/{id}/replay',
    id: 'replayDelivery',
    summary: 'Replay a finished delivery',
    description: 'A pending one stays as it is.',
    parameters: [deliveryId],
    reply: replyOf('Replayed', 'Replayed'),
    refusals: [
      { message: 'Unknown delivery' },
      { message: 'This delivery is too old to be replayed' },
      { message: 'The webhook does not subscribe to this notification any more' },
    ],
  },
  {
    method: 'get',
    path: '/operator/webhooks/{id}/replay',
    id: 'countReplay',
    summary: 'Count what a replay would send again',
    description: 'Looks at no more than 10,000 deliveries.',
    parameters: [
      webhookId,
      query('since', 'Only those created at this time or later.', { type: 'string', format: 'date-time' }),
      query('until', 'Only those created before this time.', { type: 'string', format: 'date-time' }),
      query('includeDelivered', 'Whether to count those that were delivered, too.', {
        type: 'string',
        enum: ['true', 'false'],
        default: 'false',
      }),
      query('after', 'Only those that follow this Delivery-Id.', { type: 'string', format: 'uuid' }),
    ],
    reply: replyOf('ReplayCount', 'Counted'),
    refusals: [
      unknownWebhook,
      noTime,
      emptySpan,
      invalidField('includeDelivered', 'must be true or false'),
      invalidField('after', 'must be a UUID'),
    ],
  },
  {
    method: 'post',
    path: '/operator/webhooks/{id}/replay',
    id: 'replayWebhook',
    summary: 'Replay what a webhook has missed, or all of its deliveries',
    description:
      'At most 5,000 per call, oldest first. Deliveries that are too old are left out, and so are those that the webhook does not subscribe to. Receivers get each under its Delivery-Id, also those that they have received before.',
    parameters: [webhookId],
    body: 'ReplayRange',
    reply: replyOf('Replayed', 'Replayed'),
    refusals: [unknownWebhook, noTime, emptySpan, invalidField('after', 'must be a UUID'), notJson],
  },
]);

/** What operators allow receivers. */
export const receivers = forOperators('Deliveries', [
  {
    method: 'patch',
    path: '/operator/webhooks/{id}/limits',
    id: 'limitReceiver',
    summary: 'Limit the calls to a webhook',
    parameters: [webhookId],
    body: 'ReceiverLimits',
    reply: replyOf('WebhookHealth', 'Limits changed'),
    refusals: [
      unknownWebhook,
      invalidField('maxInFlight', 'must be a whole number from 1 to 50'),
      invalidField('maxPerSecond', 'must be a whole number from 1 to 1000'),
      notJson,
    ],
  },
]);
