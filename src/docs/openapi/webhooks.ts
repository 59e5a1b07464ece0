import { urlProblems } from '../../core/platform/address.ts';
import { maxReplayedPerCall, webhookIsPaused } from '../../core/webhooks/deliveries/policy.ts';
import { coreFields } from '../../core/webhooks/fields.ts';
import { ACCIDENT, EVENT } from '../../core/webhooks/notifications/types.ts';
import { TestInput, WebhookQuery } from '../../core/webhooks/schema.ts';
import { ReplayInput } from '../../extras/delivery-log/schema.ts';
import { Filters, unmatchable } from '../../extras/filters/filters.ts';
import { type Json, ref } from './components.ts';
import type { Operation, Operations, Refusals } from './document.ts';
import { examples } from './examples.ts';
import { emptyRange, query, refused, shared } from './lists.ts';

const parameters = [shared('WebhookId', ['Invalid webhook id'])];

const included = query(
  'include',
  WebhookQuery.entries.include,
  '`state` adds whether deliveries are sent to the webhook now.',
);

const { after, dryRun, includeDelivered } = ReplayInput.entries;
const { type, level } = TestInput.entries;

const action = (name: string): Pick<Operation, 'call' | 'parameters'> => ({
  call: `post /webhook/{id}/${name}`,
  parameters,
});

const webhookReply = (message: string, example = {}) => ({
  name: 'WebhookReply',
  message,
  data: ref('Webhook'),
  example: { ...(examples.Webhook as object), ...example }, // the component's example
});

/** Filters that are invalid, or that apply to types the webhook does not subscribe to. */
const wrongFilters = [
  { minEventRisk: 0 },
  { incidentTypes: ['?'] },
  { vehicleGroups: [''] },
  { accidentLevels: [4] },
];
const unmatchableFilters = [
  unmatchable({ minEventRisk: 4 }, [ACCIDENT]),
  unmatchable({ accidentLevels: [1] }, [EVENT]),
].flatMap((error) => (error ? [{ field: error.field, must: error.message }] : []));

const invalidWebhook: Refusals = [
  ...Object.values(urlProblems).map(({ message, field: must }) => ({
    message,
    field: 'url',
    must,
  })),
  'Webhook with this URL already exist',
  'Invalid connection ids',
  refused('httpVerb', coreFields.httpVerb.input, '?'),
  refused('notificationTypes', coreFields.notificationTypes.input, []),
  ...wrongFilters.map((wrong) => refused('filters', Filters, wrong)),
  ...unmatchableFilters,
];

/** The only 400 of a request without parameters: query and Connection-Id are ignored. */
const notHttp: Json = {
  description:
    'The request is not valid HTTP, for example because of a malformed header. It is refused before it reaches ' +
    'the service, so the body need not be JSON.',
};

export const webhookOperations: Operations = {
  listWebhooks: {
    call: 'get /webhooks',
    summary: 'List webhooks',
    description: 'All webhooks of the account, oldest first, on one page.',
    parameters: [included],
    reply: {
      name: 'WebhooksReply',
      message: 'Webhooks',
      data: { type: 'array', items: ref('Webhook') },
    },
    others: { 400: notHttp },
  },
  createWebhook: {
    call: 'post /webhook',
    summary: 'Create a webhook',
    description: 'It is active immediately. An account can have at most 1,000.',
    body: 'WebhookInput',
    reply: webhookReply('Webhook created'),
    refusals: [...invalidWebhook, 'An account can have at most 1000 webhooks'],
  },
  getWebhook: {
    call: 'get /webhook/{id}',
    summary: 'Get one webhook',
    description: 'As the list shows it.',
    parameters: [...parameters, included],
    reply: webhookReply('Webhook'),
  },
  updateWebhook: {
    call: 'put /webhook/{id}',
    summary: 'Replace a webhook',
    description:
      'Send the whole configuration: also `headers`, which `{}` removes. Only `signing`, `filters` and `oauth` stay as they ' +
      'are when left out. It also applies to pending deliveries, except for filters.',
    parameters,
    body: 'WebhookUpdate',
    reply: webhookReply('Webhook updated'),
    refusals: [...invalidWebhook, { field: 'headers', must: 'is required' }],
  },
  deleteWebhook: {
    call: 'delete /webhook/{id}',
    summary: 'Delete a webhook',
    description:
      'Takes effect immediately: no call begins after the response, which may take up to five seconds.',
    parameters,
    reply: { name: 'Deleted', message: 'Webhook deleted', data: { type: 'boolean', const: true } },
  },
  pauseWebhook: {
    ...action('pause'),
    summary: 'Pause a webhook',
    description:
      'Nothing is sent to it until it is resumed: no call begins after the response, which may take five seconds. ' +
      'Deliveries wait, and fail after five days. A paused webhook stays as it is.',
    reply: webhookReply('Webhook paused', { pausedAt: '2026-11-20T20:30:00.000Z' }),
  },
  resumeWebhook: {
    ...action('resume'),
    summary: 'Resume a webhook',
    description:
      'Pending deliveries are sent, accidents first. A webhook that is not paused stays as it is.',
    reply: webhookReply('Webhook resumed'),
  },
  replayWebhook: {
    ...action('replay'),
    summary: 'Replay what a webhook has missed',
    description:
      `Sends again what failed or was cancelled, up to ${maxReplayedPerCall.toLocaleString('en')} deliveries per call, each under its Delivery-Id; ` +
      'with `includeDelivered`, also what was delivered. While there is `more`, call again with `next` as `after`. ' +
      'Pending deliveries are skipped, so a repeated call sends nothing twice unless it includes what was delivered.',
    body: 'ReplayInput',
    reply: { name: 'ReplayReply', message: 'Replayed', data: ref('ReplayOutcome') },
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
      refused('type', type, '?'),
      refused('level', level, '?'),
      { field: 'level', must: 'is for accidents alone' },
      'This webhook has no connections, so nothing is sent to it',
      'This webhook does not subscribe to that type of notification',
      webhookIsPaused,
    ],
  },
  rotateSigningSecret: {
    ...action('signing-secret'),
    summary: 'Rotate the signing secret',
    description:
      'Gives a webhook with signed deliveries a new secret. Both secrets sign for 24 hours.',
    reply: {
      name: 'SigningSecretReply',
      message: 'Signing secret rotated',
      data: ref('SigningSecret'),
    },
    refusals: ['Deliveries of this webhook are not signed'],
  },
};
