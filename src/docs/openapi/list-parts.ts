import * as v from 'valibot';
import { exampleConnectionId } from '../../fleet/lists/resource.ts';
import { listCursor } from '../../platform/db/cursor.ts';
import { fieldError, sentence } from '../../platform/fields.ts';
import { Limit, QueryText, QueryTime } from '../../platform/query.ts';
import type { Json } from './components.ts';
import type { Refused } from './operation.ts';

/* Parameters and refusals that the operations of lists share. */

export const parameterRef = (name: string): Json => ({ $ref: `#/components/parameters/${name}` });

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

/** A parameter as its schema reads it. */
export function parameter(name: string, query: AnyQuery, description: string, required = false): Json {
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

/** How the schema itself refuses a value; nothing when it takes it. */
export function refused(field: string, schema: v.GenericSchema, value: unknown): Refused | undefined {
  const [issue] = v.safeParse(v.object({ [field]: schema }), { [field]: value }).issues ?? [];
  if (!issue) return undefined;
  const { message: must } = fieldError(issue);
  return { message: sentence({ field, message: must }), field, must };
}

/** How the parameters that all lists have are refused. */
export const pageRefusals = (cursor = listCursor): (Refused | undefined)[] => [
  refused('limit', Limit, ['?']),
  { message: 'Invalid cursor', field: 'cursor', must: cursor },
];

/** How a range is refused, and its bounds, which the list may require. */
export const rangeRefusals = (required: boolean): (Refused | undefined)[] => [
  ...(required ? [refused('from', QueryTime, undefined)] : []),
  refused('to', QueryTime, ['?']),
  { message: 'from must be before to', field: 'from', must: 'must be before to' },
];
