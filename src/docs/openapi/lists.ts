import * as v from 'valibot';
import { fieldError, sentence } from '../../fields.ts';
import {
  connectionList,
  driverList,
  type List,
  safetyEventList,
  tripList,
  vehicleList,
} from '../../fleet/lists.ts';
import { Limit, Text, Time } from '../../fleet/query.ts';
import { type Json, ref } from './components.ts';
import { examples } from './examples.ts';
import type { Operation, Refused } from './operation.ts';

/** The operations of the five lists, from their declarations (spec 4.5, design 7). */
export const listOperations = (): Operation[] => [
  listOperation(connectionList, 'Connection', 'connections', 'createdAt'),
  listOperation(driverList, 'Driver', 'drivers', 'createdAt'),
  listOperation(vehicleList, 'Vehicle', 'vehicles', 'createdAt'),
  listOperation(tripList, 'Trip', 'trips', 'startedAt'),
  listOperation(safetyEventList, 'SafetyEvent', 'safety events', 'startedAt'),
];

type Declared = Pick<List, 'path' | 'connectionRequired' | 'range' | 'filters'>;

function listOperation(list: Declared, item: string, plural: string, order: string): Operation {
  const connection = list.connectionRequired ? 'RequiredConnectionId' : 'ConnectionId';
  const range = list.range === 'none' ? [] : ['from', 'to'];
  const required = list.range === 'required';
  return {
    method: 'get',
    path: list.path,
    id: `list${item}s`,
    tag: 'Fleet',
    summary: `List ${plural}`,
    description: `In order of ${order}, oldest first. Nothing repeats or goes missing while you page.`,
    security: 'ApiToken',
    parameters: [
      parameterRef(connection),
      parameterRef('limit'),
      parameterRef('cursor'),
      ...range.map((name) => parameter(name, Time, required)),
      ...Object.entries(list.filters).map(([name, { schema }]) => parameter(name, schema, false)),
    ],
    reply: {
      name: `${item}Page`,
      message: `${plural[0]?.toUpperCase()}${plural.slice(1)}`,
      data: { type: 'array', items: ref(item) },
      example: [examples[item]],
      paged: true,
    },
    refusals: refusalsOf(list),
  };
}

const words: Record<string, string> = {
  limit: 'Items a page at most; more than 500 gives 500.',
  cursor: 'The `next` of the page before. Good for the very list, connection and filters it came from.',
  from: 'Those that began at this time or later: RFC 3339, or a date, which means midnight UTC.',
  to: 'Those that began before this time.',
  status: 'Only those with this status.',
  licenseState: 'Only those whose licence this state issued.',
  vin: 'Only the vehicle with this VIN.',
  vehicleIds: 'Only of these vehicles. Repeat the parameter or part values by commas.',
  driverIds: 'Only of these drivers. Repeat the parameter or part values by commas.',
  eventTypes:
    'Only those with one of these types, by their normalised names. Repeat the parameter or part values by commas.',
  minEventRisk: 'Only those of at least this risk.',
};

const parameterRef = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

const connectionHeader = (required: boolean): Json => ({
  name: 'Connection-Id',
  in: 'header',
  required,
  description: required ? 'The connection to read.' : 'Only what came by this connection.',
  schema: { type: 'string', format: 'uuid' },
  // The reference fills examples in, and what is optional is better left out.
  ...(required && { example: (examples.Connection as { id: string }).id }), // the component's example
});

/** What lists share. */
export const listParameters: Record<string, Json> = {
  ConnectionId: connectionHeader(false),
  RequiredConnectionId: connectionHeader(true),
  limit: { ...parameter('limit', Limit, false), example: 100 },
  cursor: parameter('cursor', Text, false),
};

function parameter(
  name: string,
  schema: v.GenericSchema<string[] | undefined, unknown>,
  required: boolean,
): Json {
  const written = metadataOf(schema);
  return {
    name,
    in: 'query',
    ...(required && { required }),
    description: words[name],
    schema: written,
    ...(written.type === 'array' && { style: 'form', explode: true }),
  };
}

/** What the outermost schema's metadata says a client writes; those within it are about something else. */
function metadataOf(schema: v.GenericSchema<string[] | undefined, unknown>): Json {
  if ('wrapped' in schema) return metadataOf(schema.wrapped as typeof schema); // v.optional
  const pipe = 'pipe' in schema ? (schema.pipe as { type: string; metadata?: Json }[]) : []; // v.pipe
  return pipe.findLast(({ type }) => type === 'metadata')?.metadata ?? {};
}

function refusalsOf({ connectionRequired, range, filters }: Declared): Refused[] {
  const wrong = ['?'];
  return [
    ...(connectionRequired
      ? [{ message: 'Connection-Id header is required', field: 'Connection-Id', must: 'is required' }]
      : []),
    { message: 'Invalid connection id', field: 'Connection-Id', must: 'must be a UUID' },
    refused('limit', Limit, wrong),
    { message: 'Invalid cursor', field: 'cursor', must: 'must be the next of this very list' },
    ...(range === 'required' ? [refused('from', Time, undefined)] : []),
    ...(range === 'none'
      ? []
      : [
          refused('to', Time, wrong),
          { message: 'from must be before to', field: 'from', must: 'must be before to' },
        ]),
    ...Object.entries(filters).map(([name, { schema }]) => refused(name, schema, wrong)),
  ].filter((refusal) => refusal !== undefined);
}

/** How the schema itself refuses a value; nothing when it takes it. */
function refused(field: string, schema: v.GenericSchema, value: unknown): Refused | undefined {
  const [issue] = v.safeParse(v.object({ [field]: schema }), { [field]: value }).issues ?? [];
  if (!issue) return undefined;
  const { message: must } = fieldError(issue);
  return { message: sentence({ field, message: must }), field, must };
}
