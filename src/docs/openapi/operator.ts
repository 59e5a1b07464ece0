import * as v from 'valibot';
import {
  EvidenceInput,
  LocationInput,
  VehicleLocationInput,
} from '../../core/fleet/lists/field-objects.ts';
import { recordKinds } from '../../core/fleet/lists/registry.ts';
import * as ingesting from '../../core/ingest/schema.ts';
import { SliceParameters } from '../../core/platform/http/requested-slice.ts';
import type { Operation as Declared } from '../../extras/operation.ts';
import * as accounts from '../../operator/api/accounts.ts';
import * as connections from '../../operator/api/connections.ts';
import * as deletion from '../../operator/api/deletion.ts';
import { ofExtras, operations } from '../../operator/api/operations.ts';
import * as service from '../../operator/api/service.ts';
import { components, type Json, ref } from './components.ts';
import { document, type Operation, type Parameter, type Reply } from './document.ts';
import { recordName } from './examples.ts';
import { texts, withAdded } from './gather.ts';
import { pathParameter, refused } from './lists.ts';
import { refusal } from './responses.ts';

/** The document for connectors and operators, served at `/openapi.operator.json`. */
export const operatorDocument = (): Json =>
  document({
    title: 'Fleet Data Service, for connectors and operators',
    description: 'How connectors send records, and what operators can do. Not for customers.',
    groups: withAdded('ofOperators', {
      Ingest: ['For connectors.', { ingest }],
      ...Object.fromEntries(
        Object.entries(groups).map(([tag, [about, declared]]) => [
          tag,
          [
            about,
            {
              ...Object.fromEntries(Object.entries(declared).map(operationOf)),
              ...(tag === 'Service' && { metrics }),
            },
          ],
        ]),
      ),
    }),
    texts: texts(),
    schemas: {
      IngestInput: v.object({
        ...ingesting.IngestBody.entries,
        records: v.pipe(v.array(ingesting.IngestRecord), v.minLength(1), v.maxLength(500)),
      }),
      ...Object.fromEntries(recordKinds.map((resource) => [recordName(resource), resource.record])),
      EvidenceLink: EvidenceInput,
      Location: LocationInput,
      VehicleLocation: VehicleLocationInput,
      IngestOutcome: ingesting.IngestOutcome,
      IngestWarning: ingesting.Warning,
      Rejection: ingesting.Rejection,
      WouldNotify: ingesting.WouldNotify,
      ...Object.fromEntries(Object.entries(schemas).filter(isBody)),
    },
    replies: Object.fromEntries(Object.entries(schemas).filter((entry) => !isBody(entry))),
    securitySchemes: {
      IngestKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description:
          'An ingest key. It can be used to ingest records for one connection, and for nothing else.',
      },
      OperatorKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          "The service's OPERATOR_KEY. Behind a router it is the cell's, whose name the header `Fleet-Cell` has.",
      },
    },
    tooLarge: ['Request body is larger than 1024 KiB', 'Request body is larger than 64 KiB'],
  });

const ingest: Operation = {
  call: 'post /ingest',
  summary: 'Send records',
  description:
    'A record replaces what was known under its sourceId. Records are checked one by one. One is refused if a field that ' +
    'it must have cannot be used, or if its vehicle is unknown. Any other value that cannot be used is corrected or ' +
    'dropped, with a warning. Sending the same call again changes nothing and notifies nobody twice.',
  security: 'IngestKey',
  body: 'IngestInput',
  reply: { name: 'IngestReply', message: 'Records processed', data: ref('IngestOutcome') },
  refusals: [
    refused('records', ingesting.IngestBody.entries.records, []),
    refused('records', ingesting.IngestBody.entries.records, Array(501)),
    refused('notify', ingesting.IngestBody.entries.notify, '?'),
    refused('dryRun', ingesting.IngestBody.entries.dryRun, '?'),
  ],
};

const metrics: Operation = {
  call: 'get /operator/metrics',
  security: 'OperatorKey',
  summary: 'Get metrics',
  description: 'For Prometheus.',
  reply: { file: 'The metrics in the text format of Prometheus.', type: 'text/plain' },
};

const declared: Declared[] = Object.values(operations);

const schemas: Record<string, v.GenericSchema> = Object.fromEntries(
  Object.entries<unknown>(
    Object.assign({}, ...[accounts, connections, deletion, service, ...ofExtras]),
  ).filter((entry): entry is [string, v.GenericSchema] => isSchema(entry[1])),
);
const nameOf = (schema: v.GenericSchema): string | undefined =>
  Object.keys(schemas).find((name) => schemas[name] === schema);

const isBody = ([, schema]: [string, v.GenericSchema]) =>
  declared.some(({ body }) => body === schema);

type Group = [about: string, Record<string, Declared>];

/** What is declared, by tag; extras add to the core's tags, or have one of their own. */
const groups: { [tag: string]: Group } = {
  Accounts: ['Customers of the service.', accounts.accountOperations],
  Connections: ['Their data sources, and what these hold.', connections.connectionOperations],
  Tokens: ['API tokens and ingest keys.', accounts.tokenOperations],
  Users: ['Who signs in to the portal.', accounts.userOperations],
  'Audit log': ['Who changed what.', accounts.auditOperations],
  Deletion: [
    'Deleting accounts and connections, and erasing drivers.',
    deletion.deletionOperations,
  ],
  Service: ['The service itself.', service.serviceOperations],
};
for (const {
  tag: [tag, own = ''],
  operations,
} of ofExtras) {
  const [about, declared] = groups[tag] ?? [own, {}];
  groups[tag] = [about, { ...declared, ...operations }];
}

function operationOf([id, operation]: [id: string, Declared]): [id: string, Operation] {
  const { call, summary, description, body } = operation;
  const [method = '', path = ''] = call.split(' ');
  const bodyName = body && nameOf(body);
  const written: Operation = {
    call: `${method.toLowerCase() as 'get'} /operator${path.replace(/:(\w+)/g, '{$1}')}`, // as calls are declared
    summary,
    ...(description && { description }),
    security: 'OperatorKey',
    parameters: [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name = '']) => pathParameter(name)),
      ...queryParameters(id, operation),
    ],
    ...(bodyName && { body: bodyName }),
    reply: replyOf(operation),
    others: { 400: refusal },
  };
  return [id, written];
}

/** The fields of an operation's query, each described by `operation.field` or `field`. */
function queryParameters(
  id: string,
  { part, query = part && SliceParameters }: Declared,
): Parameter[] {
  if (!query) return [];
  const { [id]: { properties = {}, required = [] } = {} } = components(
    { [id]: query },
    texts(),
  ) as {
    [id: string]: { properties?: Record<string, Json>; required?: string[] }; // an object's schema
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    written: {
      name,
      in: 'query',
      ...(required.includes(name) && { required: true }),
      description,
      schema: schema.type === 'integer' ? { ...schema, default: Number(schema.default) } : schema,
    },
  }));
}

function replyOf({ reply, part }: Declared): Reply {
  const item = 'item' in reply ? (reply.item as v.GenericSchema) : undefined; // v.array
  const name = nameOf(item ?? reply);
  return {
    name: item ? `${name ?? 'Record'}List` : `${name}Reply`,
    message: 'OK',
    data: item ? { type: 'array', items: name ? ref(name) : { type: 'object' } } : ref(name ?? ''),
    ...(part && { paged: true }),
  };
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';
}
