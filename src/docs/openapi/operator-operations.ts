import type * as v from 'valibot';
import * as accounts from '../../operator/api/accounts.ts';
import * as connections from '../../operator/api/connections.ts';
import * as deletion from '../../operator/api/deletion.ts';
import * as moves from '../../operator/api/moves.ts';
import type { Operation as Declared } from '../../operator/api/operation.ts';
import { operations } from '../../operator/api/operations.ts';
import * as service from '../../operator/api/service.ts';
import * as webhooks from '../../operator/api/webhooks.ts';
import { maxSlice } from '../../platform/http/slices.ts';
import { components, type Json, ref } from './components.ts';
import { refused } from './lists.ts';
import type { Operation, Refused, Reply } from './operation.ts';

/* The operators' operations as OpenAPI has them, from what `src/operator/api` declares. */

const declared: Declared[] = Object.values(operations);

/** The schemas that `src/operator/api` exports, by their names, which are those of the components. */
const schemas: Record<string, v.GenericSchema> = Object.fromEntries(
  Object.entries<unknown>({
    ...accounts,
    ...connections,
    ...webhooks,
    ...deletion,
    ...moves,
    ...service,
  }).filter((entry): entry is [string, v.GenericSchema] => isSchema(entry[1])),
);
const nameOf = (schema: v.GenericSchema): string | undefined =>
  Object.keys(schemas).find((name) => schemas[name] === schema);

const isBody = ([, schema]: [string, v.GenericSchema]) => declared.some(({ body }) => body === schema);

export const operatorBodies = Object.fromEntries(Object.entries(schemas).filter(isBody));
export const operatorReplies = Object.fromEntries(Object.entries(schemas).filter((entry) => !isBody(entry)));

/** What the operations are about: the tags of the document. */
const groups: { [tag: string]: [description: string, operations: Record<string, Declared>] } = {
  Accounts: ['Customers of the service.', accounts.accountOperations],
  Connections: ['Their data sources, and what these hold.', connections.connectionOperations],
  Tokens: ['API tokens and ingest keys.', accounts.tokenOperations],
  Deliveries: ['Deliveries of notifications to webhooks.', webhooks.webhookOperations],
  Users: ['Who signs in to the portal.', accounts.userOperations],
  'Audit log': ['Who changed what.', accounts.auditOperations],
  Deletion: ['Deleting accounts and connections, and erasing drivers.', deletion.deletionOperations],
  Moving: ['Moving accounts from one home to another.', moves.moveOperations],
  Service: ['The service itself.', service.serviceOperations],
};

export const operatorTags = Object.entries(groups).map(([name, [description]]) => ({ name, description }));

export const operatorOperations = (): Operation[] =>
  Object.entries(groups).flatMap(([tag, [, operations]]) =>
    Object.entries(operations).map(([id, operation]) => operationOf(tag, id, operation)),
  );

function operationOf(tag: string, id: string, operation: Declared): Operation {
  const { call, summary, description, body } = operation;
  const [method = '', path = ''] = call.split(' ');
  const bodyName = body && nameOf(body);
  return {
    method: method.toLowerCase() as Operation['method'], // as calls are declared
    path: `/operator${path.replace(/:(\w+)/g, '{$1}')}`,
    id,
    tag,
    summary,
    ...(description && { description }),
    security: 'OperatorKey',
    parameters: [...pathParameters(path), ...queryParameters(id, operation)],
    ...(bodyName && { body: bodyName }),
    reply: replyOf(operation),
    refusals: refusalsOf(operation),
  };
}

/** What the `:id` of a path is, by what the path begins with. */
const ids: Record<string, string> = {
  accounts: "The account's id.",
  connections: "The connection's id.",
  deletions: 'The id of what is deleted.',
  deliveries: 'The Delivery-Id.',
  drivers: "The driver's id.",
  tokens: "The token's id.",
  vehicles: "The vehicle's id.",
  webhooks: "The webhook's id.",
};

const pathParameters = (path: string): Json[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'userId' ? "The user's id." : ids[path.split('/')[1] ?? ''],
    schema: { type: 'string' },
  }));

const sliceParameters = [
  {
    name: 'cursor',
    in: 'query',
    description: 'The `next` of the part before; without one, the list begins.',
    schema: { type: 'string' },
  },
  {
    name: 'limit',
    in: 'query',
    description: 'How many to return at most; more than 1,000 count as 1,000.',
    schema: { type: 'integer', minimum: 1, default: maxSlice },
  },
];

/** The fields of an operation's query, each with the words for `operation.field` or `field`. */
function queryParameters(id: string, { query, part }: Declared): Json[] {
  if (!query) return part === 'slice' ? sliceParameters : [];
  const { [id]: { properties = {}, required = [] } = {} } = components({ [id]: query }) as {
    [id: string]: { properties?: Record<string, Json>; required?: string[] }; // an object's schema
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) && { required: true }),
    description,
    schema: schema.type === 'integer' ? { ...schema, default: Number(schema.default) } : schema,
  }));
}

function replyOf({ reply, message, part }: Declared): Reply {
  const item = 'item' in reply ? (reply.item as v.GenericSchema) : undefined; // v.array
  const name = nameOf(item ?? reply);
  return {
    name: item ? `${name ?? 'Record'}List` : `${name}Reply`,
    message: typeof message === 'string' ? message : message({}),
    data: item ? { type: 'array', items: name ? ref(name) : { type: 'object' } } : ref(name ?? ''),
    ...(part && { paged: true }),
  };
}

/** What an operation declares, what its schemas refuse of each field, and what all that read alike refuse. */
function refusalsOf({ refusals = [], query, body, part }: Declared): (Refused | undefined)[] {
  const fields = Object.entries({ ...query?.entries, ...body?.entries } as v.ObjectEntries);
  return [
    ...refusals.map((refusal) =>
      typeof refusal === 'string'
        ? { message: refusal }
        : { ...refusal, message: `${refusal.field} ${refusal.must}` },
    ),
    ...fields.map(
      ([name, schema]) =>
        refused(name, schema as v.GenericSchema, '?') ?? refused(name, schema as v.GenericSchema, undefined),
    ),
    part && { message: 'Invalid cursor' },
    body && { message: 'Request body is not valid JSON' },
  ];
}

function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';
}
