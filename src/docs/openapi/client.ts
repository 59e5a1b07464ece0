import * as v from 'valibot';
import { Change, changesByKind } from '../../fleet/changes/schema.ts';
import { ExternalIdInput } from '../../fleet/lists/resource.ts';
import { Health } from '../../operator/api/service.ts';
import { sentence } from '../../platform/fields.ts';
import { DeliverySummary, LastAnswer, ReplayInput, ReplayOutcome } from '../../webhooks/deliveries/schema.ts';
import { Filters, unmatchable } from '../../webhooks/filters.ts';
import {
  AccidentDelivery,
  AccidentNotification,
  EventDelivery,
  EventNotification,
} from '../../webhooks/notifications/payloads.ts';
import { ACCIDENT, EVENT } from '../../webhooks/notifications/types.ts';
import {
  SigningSecret,
  TestInput,
  TestSent,
  urlProblems,
  WebhookInput,
  WebhookOutput,
} from '../../webhooks/schema.ts';
import { type Json, ref } from './components.ts';
import { deliveries } from './deliveries.ts';
import { deliveryActions, deliveryList } from './delivery-list.ts';
import { document } from './document.ts';
import { examples } from './examples.ts';
import { limits } from './limits.ts';
import { changeFeed, listOperations, listParameters, refused } from './lists.ts';
import type { Operation, Refused } from './operation.ts';
import { itemSchemas } from './resources.ts';
import { Failure, retry } from './shared.ts';
import { webhookActions } from './webhook-actions.ts';

/** What generated clients narrow a change by. */
const byKind = {
  oneOf: changesByKind.map(({ name }) => ref(name)),
  discriminator: {
    propertyName: 'kind',
    mapping: Object.fromEntries(changesByKind.map(({ kind, name }) => [kind, ref(name).$ref])),
  },
};

/** The document of the client API, served at `/openapi.json`. */
export const clientDocument = (): Json =>
  document({
    title: 'Fleet Data Service',
    description:
      'Fleet data in lists, and a call to your webhook within seconds when a vehicle brakes hard or crashes. ' +
      'Guides with complete programs are at [/docs](/docs). Within one API-Version changes are additions ' +
      'only: ignore properties and headers that you do not know.',
    tags: [
      { name: 'Webhooks', description: 'Where notifications go.' },
      { name: 'Fleet', description: 'What telematics providers report, in lists.' },
      { name: 'Service', description: 'The service itself.' },
      {
        name: 'Deliveries',
        description: 'The calls that your receiver gets from the service, and their status.',
      },
    ],
    operations: [
      ...webhookOperations,
      ...webhookActions,
      ...listOperations(),
      changeFeed,
      deliveryList,
      ...deliveryActions,
      health,
    ],
    schemas: {
      WebhookInput,
      Webhook: WebhookOutput,
      WebhookFilters: Filters,
      SigningSecret,
      ...itemSchemas,
      ExternalIdInput,
      ...Object.fromEntries(changesByKind.map(({ name, schema }) => [name, schema])),
      Change: v.pipe(Change, v.metadata(byKind)),
      EventDelivery,
      EventNotification,
      AccidentDelivery,
      AccidentNotification,
      DeliverySummary,
      LastAnswer,
      ReplayInput,
      ReplayOutcome,
      TestInput,
      TestSent,
      Health,
      UnhealthyReply,
    },
    parameters: { WebhookId: webhookId, ...listParameters },
    securitySchemes: {
      ApiToken: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description:
          'An API token, made in the portal: Settings, API Tokens. A read-only token may only use GET, and sees no headers of webhooks.',
      },
    },
    tooLarge: ['Request body is larger than 64 KiB'],
    webhooks: deliveries(),
    limits,
  });

const webhookId: Json = {
  name: 'id',
  in: 'path',
  required: true,
  description: "The webhook's id.",
  schema: { type: 'string', format: 'uuid' },
  example: (examples.Webhook as { id: string }).id, // the component's example
};

const id = { $ref: '#/components/parameters/WebhookId' };

const invalidId: Refused = { message: 'Invalid webhook id' };

const { httpVerb, notificationTypes, filters } = WebhookInput.entries;

/** Filters that no webhook can have, and those that are about what it does not subscribe to. */
const wrongFilters = [
  { minEventRisk: 0 },
  { incidentTypes: ['?'] },
  { vehicleGroups: [] },
  { accidentLevels: [4] },
];
const unmatchableFilters = [
  unmatchable({ filters: { minEventRisk: 4 }, notificationTypes: [ACCIDENT] }),
  unmatchable({ filters: { accidentLevels: [1] }, notificationTypes: [EVENT] }),
].flatMap((error) => (error ? [{ message: sentence(error), field: error.field, must: error.message }] : []));

const invalidWebhook = [
  ...(['not https', 'not public', 'ip address', 'has credentials'] as const).map((problem): Refused => {
    const { message, field: must } = urlProblems[problem];
    return { message, field: 'url', must };
  }),
  { message: 'Webhook with this URL already exist' },
  { message: 'Invalid connection ids' },
  refused('httpVerb', httpVerb, '?'),
  refused('notificationTypes', notificationTypes, []),
  ...wrongFilters.map((wrong) => refused('filters', filters, wrong)),
  ...unmatchableFilters,
  { message: 'Request body is not valid JSON' },
];

const webhookReply = (message: string) => ({
  name: 'WebhookReply',
  message,
  data: ref('Webhook'),
});

/** The only 400 of a request that has nothing to get wrong: query and Connection-Id are ignored. */
const notHttp: Json = {
  description:
    'The request is not valid HTTP, for example because of a malformed header. It is refused before it reaches ' +
    'the service, so the body need not be JSON.',
};

const webhookOperations: Operation[] = [
  {
    method: 'get',
    path: '/webhooks',
    id: 'listWebhooks',
    tag: 'Webhooks',
    summary: 'List webhooks',
    description: 'All webhooks of the account, oldest first, on one page.',
    security: 'ApiToken',
    reply: {
      name: 'WebhooksReply',
      message: 'Webhooks',
      data: { type: 'array', items: ref('Webhook') },
    },
    others: { 400: notHttp },
  },
  {
    method: 'post',
    path: '/webhook',
    id: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Create a webhook',
    description: 'It is active immediately. An account can have at most 1,000.',
    security: 'ApiToken',
    body: 'WebhookInput',
    reply: webhookReply('Webhook created'),
    refusals: [...invalidWebhook, { message: 'An account can have at most 1000 webhooks' }],
  },
  {
    method: 'put',
    path: '/webhook/{id}',
    id: 'updateWebhook',
    tag: 'Webhooks',
    summary: 'Replace a webhook',
    description:
      'Send the whole configuration; only headers, signing, filters and oauth stay as they are when left out. It also applies ' +
      'to pending deliveries, except for filters.',
    security: 'ApiToken',
    parameters: [id],
    body: 'WebhookInput',
    reply: webhookReply('Webhook updated'),
    refusals: [invalidId, ...invalidWebhook],
  },
  {
    method: 'delete',
    path: '/webhook/{id}',
    id: 'deleteWebhook',
    tag: 'Webhooks',
    summary: 'Delete a webhook',
    description:
      'Takes effect immediately: once this returns, no more calls begin. It may take up to five seconds.',
    security: 'ApiToken',
    parameters: [id],
    reply: {
      name: 'Deleted',
      message: 'Webhook deleted',
      data: { type: 'boolean', const: true },
    },
    refusals: [invalidId],
  },
  {
    method: 'post',
    path: '/webhook/{id}/signing-secret',
    id: 'rotateSigningSecret',
    tag: 'Webhooks',
    summary: 'Rotate the signing secret',
    description:
      'Gives a webhook whose deliveries are signed another secret. Both secrets sign for 24 hours. Our addition to the specification.',
    security: 'ApiToken',
    parameters: [id],
    reply: {
      name: 'SigningSecretReply',
      message: 'Signing secret rotated',
      data: ref('SigningSecret'),
    },
    refusals: [invalidId, { message: 'Deliveries of this webhook are not signed' }],
  },
];

const UnhealthyReply = v.object({
  ...Failure.entries,
  retryAfter: v.pipe(v.number(), v.integer()),
  data: Health,
});

const health: Operation = {
  method: 'get',
  path: '/health',
  id: 'health',
  tag: 'Service',
  summary: 'Get the health of the service',
  description: 'For monitors; needs no token.',
  reply: { name: 'HealthReply', message: 'Healthy', data: ref('Health') },
  others: {
    503: {
      description: 'The database does not respond, or deliveries have been due for more than five minutes.',
      headers: retry,
      content: {
        'application/json': { schema: ref('UnhealthyReply'), example: examples.UnhealthyReply },
      },
    },
  },
};
