import * as v from 'valibot';
import { IngestBody, IngestRecord, Outcome, Rejection, Warning } from '../../ingest/schema.ts';
import { type Json, ref } from './components.ts';
import { document } from './document.ts';
import { refused } from './lists.ts';
import type { Operation } from './operation.ts';
import { operatorBodies, operatorOperations, operatorReplies, operatorTags } from './operator-operations.ts';
import { recordSchemas } from './resources.ts';

/** The document of what connectors and operators call, served at `/openapi.operator.json`. */
export const operatorDocument = (): Json =>
  document({
    title: 'Fleet Data Service, for connectors and operators',
    description: 'How connectors send records, and what operators can do. Not for customers.',
    tags: [{ name: 'Ingest', description: 'For connectors.' }, ...operatorTags],
    operations: [ingest, ring, ...operatorOperations()],
    schemas: {
      IngestInput: v.object({
        ...IngestBody.entries,
        records: v.pipe(v.array(IngestRecord), v.minLength(1), v.maxLength(500)),
      }),
      ...recordSchemas,
      IngestOutcome: Outcome,
      IngestWarning: Warning,
      Rejection,
      ...operatorBodies,
    },
    replies: operatorReplies,
    securitySchemes: {
      IngestKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description:
          'An ingest key. It can be used to ingest records for one connection, and for nothing else.',
      },
      OperatorKey: { type: 'http', scheme: 'bearer', description: "The service's OPERATOR_KEY." },
    },
    tooLarge: ['Request body is larger than 1024 KiB', 'Request body is larger than 64 KiB'],
  });

const ingest: Operation = {
  method: 'post',
  path: '/ingest',
  id: 'ingest',
  tag: 'Ingest',
  summary: 'Send records',
  description:
    'A record replaces what was known under its sourceId. Records are checked one by one: those that are valid are ' +
    'accepted even if others are refused. Sending the same call again changes nothing and notifies nobody twice.',
  security: 'IngestKey',
  body: 'IngestInput',
  reply: {
    name: 'IngestReply',
    message: 'Records processed',
    data: ref('IngestOutcome'),
  },
  refusals: [
    refused('records', IngestBody.entries.records, []),
    refused('records', IngestBody.entries.records, Array(501)),
    refused('notify', IngestBody.entries.notify, '?'),
    { message: 'Request body is not valid JSON' },
    { message: 'Request body is not valid UTF-8' },
  ],
};

/** Where a provider's own webhook makes a pull due. */
const ring: Operation = {
  method: 'post',
  path: '/providers/{connectionId}/webhook',
  id: 'ring',
  tag: 'Connections',
  summary: "Make a pull due, as the provider's webhook",
  description:
    'Its body is not read: the call counts if the provider has signed it with the secret that was saved.',
  parameters: [
    {
      name: 'connectionId',
      in: 'path',
      required: true,
      description: "The connection's id.",
      schema: { type: 'string' },
    },
  ],
  others: {
    401: { $ref: '#/components/responses/Unauthorized' },
    413: { $ref: '#/components/responses/TooLarge' },
  },
  reply: { name: 'RingReply', message: 'Pull is due', data: { type: 'null' } },
};
