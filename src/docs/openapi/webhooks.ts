import { urlProblems } from '../../core/platform/address.ts';
import { coreFields } from '../../core/webhooks/fields.ts';
import { options } from '../../core/webhooks/options.ts';
import { WebhookQuery } from '../../core/webhooks/schema.ts';
import { ref } from './components.ts';
import type { Operation, Operations, Refusals } from './document.ts';
import { examples } from './examples.ts';
import { query, refused, shared } from './lists.ts';

const parameters = [shared('WebhookId', ['Invalid webhook id'])];

const included = query(
  'include',
  WebhookQuery.entries.include,
  '`state` adds whether deliveries are sent to the webhook now.',
);

/** An action on a webhook: its path and parameters. */
export const action = (name: string): Pick<Operation, 'call' | 'parameters'> => ({
  call: `post /webhook/{id}/${name}`,
  parameters,
});

const webhookReply = (message: string, example = {}) => ({
  name: 'WebhookReply',
  message,
  data: ref('Webhook'),
  example: { ...(examples.Webhook as object), ...example }, // the component's example
});

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
];

/** Which fields are not replaced when they are left out. */
function keptOptions(): string {
  const names = new Intl.ListFormat('en-GB').format(options().map(({ name }) => `\`${name}\``));
  return names && ` Only ${names} stay as they are when left out.`;
}

/** `refusals` are those because of options. */
export const webhookOperations = (refusals: Refusals): Operations => ({
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
  },
  createWebhook: {
    call: 'post /webhook',
    summary: 'Create a webhook',
    description: 'It is active immediately. An account can have at most 1,000.',
    body: 'WebhookInput',
    reply: webhookReply('Webhook created'),
    refusals: [...invalidWebhook, ...refusals, 'An account can have at most 1000 webhooks'],
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
      `Send the whole configuration: also \`headers\`, which \`{}\` removes.${keptOptions()} ` +
      `It also applies to pending deliveries${options().some(({ filter }) => filter) ? ', except for filters' : ''}.`,
    parameters,
    body: 'WebhookUpdate',
    reply: webhookReply('Webhook updated'),
    refusals: [...invalidWebhook, ...refusals, { field: 'headers', must: 'is required' }],
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
});
