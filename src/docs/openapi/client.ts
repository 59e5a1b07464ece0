import '../../extras/options.ts';

import * as v from 'valibot';
import { accidents } from '../../core/fleet/lists/accidents.ts';
import * as objects from '../../core/fleet/lists/field-objects.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { ExternalIdInput } from '../../core/fleet/lists/resource.ts';
import * as payloads from '../../core/webhooks/notifications/payloads.ts';
import {
  TestInput,
  TestSent,
  WebhookState,
  webhookInput,
  webhookOutput,
  webhookUpdate,
} from '../../core/webhooks/schema.ts';
import { Change, changesByKind } from '../../extras/changes/schema.ts';
import * as reads from '../../extras/delivery-log/schema.ts';
import { Evidence } from '../../extras/evidence/schema.ts';
import { Export, ExportFile, ExportInput } from '../../extras/exports/schema.ts';
import { Filters, FiltersOutput } from '../../extras/filters/filters.ts';
import { SigningSecret } from '../../extras/signing/option.ts';
import { Health } from '../../operator/api/service.ts';
import { type Json, ref } from './components.ts';
import { deliveries, deliveryOperations } from './deliveries.ts';
import { document, Failure, type Operation } from './document.ts';
import { examples, itemName } from './examples.ts';
import { exportOperations } from './exports.ts';
import { idParameter, listChanges, listOperations, listParameters } from './lists.ts';
import { failing, retry } from './responses.ts';
import { webhookOperations } from './webhooks.ts';

/** The fields of an accident, which is an object. */
const { entries } = accidents.item as unknown as v.ObjectSchema<v.ObjectEntries, undefined>;

/** By which generated clients narrow a change. */
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
      'only: ignore unknown properties and headers.',
    groups: {
      Webhooks: ['Where notifications go.', webhookOperations],
      Fleet: [
        'What telematics providers report, in lists.',
        { ...listOperations(), listChanges, getEvidence },
      ],
      Service: ['The service itself.', { health }],
      Deliveries: [
        'The calls that your receiver gets from the service, and their status.',
        deliveryOperations,
      ],
      Exports: ['Lists as files, for data warehouses.', exportOperations],
    },
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
      ...Object.fromEntries(changesByKind.map(({ name, schema }) => [name, schema])),
      Change: v.pipe(Change, v.metadata(byKind)),
      DeliverySummary: reads.DeliverySummary,
      DeliveryDetails: reads.DeliveryDetails,
      DeliveryAttempt: reads.DeliveryAttempt,
      LastAnswer: reads.LastAnswer,
      ReplayInput: reads.ReplayInput,
      ReplayOutcome: reads.ReplayOutcome,
      TestInput,
      TestSent,
      AccidentWithEvidence: v.object({ ...entries, evidence: v.optional(v.array(Evidence)) }),
      Evidence,
      ExportInput,
      DataExport: Export,
      ExportFile,
      ExternalIdInput,
      WebhookFilters: FiltersOutput,
      WebhookFiltersInput: Filters,
      SigningSecret,
    },
    parameters: { WebhookId: idParameter("The webhook's id.", 'Webhook'), ...listParameters },
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
    webhooks: deliveries(),
  });

const getEvidence: Operation = {
  call: 'get /accidents/{id}/evidence/{evidenceId}',
  summary: 'Get a file of an accident',
  description:
    'A file of its `evidence` that is `stored`, or a range of it, as video players need it.',
  parameters: [
    { written: idParameter("The accident's `eventId`.", 'Accident', 'eventId') },
    { written: { ...idParameter('The `id` of the evidence.', 'Evidence'), name: 'evidenceId' } },
    {
      written: {
        name: 'Range',
        in: 'header',
        description: 'One range of bytes, such as `bytes=0-1023`. Anything else is ignored.',
        schema: { type: 'string' },
      },
    },
  ],
  reply: {
    file: 'The file. Its `Content-Type` is the `contentType` of the evidence.',
    ranges: true,
  },
  others: {
    404: failing(404, 'Your account has none with these ids, or its file is not stored.', [
      'Accident not found',
      'Evidence not found',
    ]),
  },
};

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
        'The database does not respond, or deliveries have been due for more than five minutes.',
      headers: retry,
      content: {
        'application/json': { schema: ref('UnhealthyReply'), example: examples.UnhealthyReply },
      },
    },
  },
};
