import * as v from 'valibot';
import { fieldError, sentence } from '../../fields.ts';
import { capitalised, type List } from '../../fleet/list.ts';
import { lists } from '../../fleet/registry.ts';
import { exampleConnectionId } from '../../fleet/resource.ts';
import { Limit, QueryText, QueryTime } from '../../query.ts';
import { type Json, ref } from './components.ts';
import { examples } from './examples.ts';
import type { Operation, Refused } from './operation.ts';
import { itemName } from './resources.ts';

/** The operations of all lists (spec 4.5, design 7). */
export const listOperations = (): Operation[] =>
  lists.map((resource) => listOperation(resource.list, itemName(resource)));

function listOperation(list: List, item: string): Operation {
  const { path, plural, order, range, filters, connectionRequired } = list;
  const names = range ? (['from', 'to'] as const) : [];
  return {
    method: 'get',
    path,
    id: `list${item}s`,
    tag: 'Fleet',
    summary: `List ${plural}`,
    description: `In order of \`${order}\`, oldest first. Nothing repeats or goes missing while you page.`,
    security: 'ApiToken',
    parameters: [
      parameterRef(connectionRequired ? 'RequiredConnectionId' : 'ConnectionId'),
      parameterRef('limit'),
      parameterRef('cursor'),
      ...names.map((name) => parameter(name, QueryTime, rangeWords[name], range === 'required')),
      ...Object.entries(filters).map(([name, { query, description }]) => parameter(name, query, description)),
    ],
    reply: {
      name: `${item}Page`,
      message: capitalised(plural),
      data: { type: 'array', items: ref(item) },
      example: [examples[item]],
      paged: true,
    },
    refusals: refusalsOf(list),
  };
}

const rangeWords = {
  from: 'Only those that began at this time or later: RFC 3339, or a date, which means midnight UTC.',
  to: 'Only those that began before this time.',
};

const parameterRef = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

const connectionHeader = (required: boolean): Json => ({
  name: 'Connection-Id',
  in: 'header',
  required,
  description: required ? 'The connection to read.' : 'Only what belongs to this connection.',
  schema: { type: 'string', format: 'uuid' },
  // The reference fills examples in, and what is optional is better left out.
  ...(required && { example: exampleConnectionId }),
});

/** What lists share. */
export const listParameters: Record<string, Json> = {
  ConnectionId: connectionHeader(false),
  RequiredConnectionId: connectionHeader(true),
  limit: { ...parameter('limit', Limit, 'The most items on a page; more than 500 gives 500.'), example: 100 },
  cursor: parameter(
    'cursor',
    QueryText,
    'The `next` of the page before. It is valid for the list, connection and filters that it came from.',
  ),
};

function parameter(name: string, query: AnyQuery, description: string, required = false): Json {
  const schema = metadataOf(query);
  const isList = schema.type === 'array';
  return {
    name,
    in: 'query',
    ...(required && { required }),
    description: isList
      ? `${description} Repeat the parameter, or separate values with commas.`
      : description,
    schema,
    ...(isList && { style: 'form', explode: true }),
  };
}

type AnyQuery = v.GenericSchema<string[] | undefined, unknown>;

/** What a client writes, as the outermost metadata says: what lies within it is about something else. */
function metadataOf(schema: AnyQuery): Json {
  if ('wrapped' in schema) return metadataOf(schema.wrapped as AnyQuery); // v.optional
  const pipe = 'pipe' in schema ? (schema.pipe as { kind: string; metadata?: Json }[]) : []; // v.pipe
  const metadata = pipe.findLast(({ kind }) => kind === 'metadata')?.metadata;
  return metadata ?? metadataOf(pipe[0] as unknown as AnyQuery); // a pipe begins with a schema
}

function refusalsOf({ connectionRequired, range, filters }: List): Refused[] {
  const wrong = ['?'];
  return [
    ...(connectionRequired
      ? [{ message: 'Connection-Id header is required', field: 'Connection-Id', must: 'is required' }]
      : []),
    { message: 'Invalid connection id', field: 'Connection-Id', must: 'must be a UUID' },
    refused('limit', Limit, wrong),
    { message: 'Invalid cursor', field: 'cursor', must: 'must be the next of this very list' },
    ...(range === 'required' ? [refused('from', QueryTime, undefined)] : []),
    ...(range
      ? [
          refused('to', QueryTime, wrong),
          { message: 'from must be before to', field: 'from', must: 'must be before to' },
        ]
      : []),
    ...Object.entries(filters).map(([name, { query }]) => refused(name, query, wrong)),
  ].filter((refusal) => refusal !== undefined);
}

/** How the schema itself refuses a value; nothing when it takes it. */
function refused(field: string, schema: v.GenericSchema, value: unknown): Refused | undefined {
  const [issue] = v.safeParse(v.object({ [field]: schema }), { [field]: value }).issues ?? [];
  if (!issue) return undefined;
  const { message: must } = fieldError(issue);
  return { message: sentence({ field, message: must }), field, must };
}
