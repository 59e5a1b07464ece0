import '../../extras/options.ts';

import * as v from 'valibot';
import * as objects from '../../core/fleet/lists/field-objects.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import * as payloads from '../../core/webhooks/notifications/payloads.ts';
import {
  WebhookState,
  webhookInput,
  webhookOutput,
  webhookUpdate,
} from '../../core/webhooks/schema.ts';
import { Health } from '../../operator/api/service.ts';
import { type Json, ref } from './components.ts';
import { deliveries } from './deliveries.ts';
import { document, Failure, type Operation } from './document.ts';
import { examples, exampleWebhookId, itemName } from './examples.ts';
import { added, texts, withAdded } from './gather.ts';
import { idParameter, listOperations, listParameters } from './lists.ts';
import { retry } from './responses.ts';
import { webhookOperations } from './webhooks.ts';

/** The document of the client API, served at `/openapi.json`. */
export const clientDocument = (): Json =>
  document({
    title: 'Fleet Data Service',
    description:
      'Fleet data in lists, and a call to your webhook within seconds when a vehicle brakes hard or crashes. ' +
      'Guides with complete programs are at [/docs](/docs). Within one API-Version changes are additions ' +
      'only: ignore unknown properties and headers.',
    groups: withAdded('operations', {
      Webhooks: [
        'Where notifications go.',
        webhookOperations(added.flatMap(({ refusals = [] }) => refusals)),
      ],
      Fleet: [
        'What telematics providers report, in lists.',
        listOperations(Object.assign({}, ...added.map(({ detailed }) => detailed))),
      ],
      Service: ['The service itself.', { health }],
      Deliveries: ['The calls that your receiver gets from the service, and their status.', {}],
    }),
    texts: texts(),
    schemas: {
      WebhookInput: webhookInput(),
      WebhookUpdate: webhookUpdate(),
      Webhook: webhookOutput(),
      WebhookState,
      ...Object.fromEntries(lists.map((resource) => [itemName(resource), resource.item])),
      AccidentLevel: objects.AccidentLevel,
      Handled: objects.Handled,
      Location: objects.LocationOutput,
      VehicleLocation: objects.VehicleLocationOutput,
      ...payloads,
      Health,
      UnhealthyReply,
      ...Object.assign({}, ...added.map(({ schemas }) => schemas)),
    },
    parameters: {
      WebhookId: idParameter("The webhook's id.", exampleWebhookId),
      ...listParameters,
    },
    securitySchemes: {
      ApiToken: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description:
          'An API token, created in the portal: Settings, API Tokens. A read-only token may only use GET, and sees no headers of webhooks.',
      },
    },
    tooLarge: ['Request body is larger than 64 KiB'],
    webhooks: deliveries(added.flatMap(({ headers = [] }) => headers)),
  });

const UnhealthyReply = v.object({
  ...v.omit(Failure, ['reason']).entries,
  retryAfter: v.pipe(v.number(), v.integer()),
  data: Health,
});

const health: Operation = {
  call: 'get /health',
  security: 'none',
  summary: 'Get the health of the service',
  description: 'For monitors; needs no token.',
  reply: { name: 'HealthReply', message: 'Healthy', data: ref('Health') },
  others: {
    503: {
      description:
        'The database does not respond, deliveries have been due for more than five minutes, or the scheduled ' +
        'jobs have stopped.',
      headers: retry,
      content: {
        'application/json': { schema: ref('UnhealthyReply'), example: examples.UnhealthyReply },
      },
    },
  },
};
