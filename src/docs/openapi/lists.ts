import * as v from 'valibot';
import { allConnections, type List, mustBeConnection } from '../../core/fleet/lists/list.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { exampleConnectionId } from '../../core/fleet/lists/resource.ts';
import { listCursor } from '../../core/platform/db/cursor.ts';
import { fieldError } from '../../core/platform/fields.ts';
import { notKnown } from '../../core/platform/nearest.ts';
import { Limit, QueryText, QueryTime } from '../../core/platform/query.ts';
import { capital } from '../../core/platform/text.ts';
import { type Json, ref } from './components.ts';
import type { Operation, Operations, Parameter, Refusals, Refused } from './document.ts';
import type { Documented } from './documented.ts';
import { itemName } from './examples.ts';
import { failing } from './responses.ts';

/** The lists of records, and one item of each. */
export const listOperations = (detailed: NonNullable<Documented['detailed']>): Operations => {
  const each = lists.map((resource): Operations => {
    const item = itemName(resource);
    return {
      [`list${item}s`]: listOperation(resource.list, item),
      [`get${item}`]: itemOperation(resource, item, detailed[item]),
    };
  });
  return Object.assign({}, ...each);
};

export const unknownId = (singular: string) => ({
  404: failing(404, 'Your account has none with this id.', [`${capital(singular)} not found`]),
});

/** The id in a path. */
export const idParameter = (description: string, example: unknown): Json => ({
  name: 'id',
  in: 'path',
  required: true,
  description,
  schema: { type: 'string', format: 'uuid' },
  example,
});

/** A part of a path, for operators. */
export const pathParameter = (name: string): Parameter => ({
  written: { name, in: 'path', required: true, schema: { type: 'string' } },
});

/** The example of an item's id. */
export const exampleId = ({ list, itemExample }: { list: List; itemExample: object }): unknown =>
  new Map(Object.entries(itemExample)).get(list.id);

function itemOperation(
  resource: { list: List; itemExample: object },
  item: string,
  [shown, adds] = [item, ''],
): Operation {
  const { path, singular, id, order, range, archive } = resource.list;
  const need = archive ? 'needed only for items older than 30 days' : 'which is not needed';
  const at = query('at', QueryTime, `Its \`${order}\`, ${need}.`);
  return {
    call: `get ${path}/{id}`,
    summary: `Get one ${singular}`,
    description: `As the list shows it${adds}. It never lags.`,
    parameters: [
      { written: idParameter(`Its \`${id}\`.`, exampleId(resource)) },
      ...(range ? [at] : []),
    ],
    reply: { name: `${item}Reply`, message: capital(singular), data: ref(shown) },
    others: unknownId(singular),
  };
}

function listOperation(list: List, item: string): Operation {
  const { path, plural, order, range, filters, connectionRequired } = list;
  return {
    call: `get ${path}`,
    summary: `List ${plural}`,
    description: `In order of \`${order}\`, oldest first. Nothing repeats or goes missing while you page.`,
    parameters: [
      connectionRequired ? requiredConnection : connection,
      ...pageParameters,
      ...(range
        ? rangeParameters(
            `Only those whose \`${order}\` is this time or later: RFC 3339, or a date, which means midnight UTC.`,
            `Only those whose \`${order}\` is before this time. A date means its midnight UTC, so that day is excluded.`,
            range === 'required',
          )
        : []),
      ...Object.entries(filters).map(([name, { query: schema, description }]) =>
        query(name, schema, description),
      ),
    ],
    reply: {
      name: `${item}Page`,
      message: capital(plural),
      data: { type: 'array', items: ref(item) },
      paged: true,
    },
  };
}

/** A parameter that is a component, and how it is refused. */
export const shared = (name: string, refusals: Refusals = []): Parameter => ({
  written: { $ref: `#/components/parameters/${name}` },
  refusals,
});

const invalidConnection = {
  message: 'Invalid connection id',
  field: 'Connection-Id',
  must: mustBeConnection,
};
export const connection = shared('ConnectionId', [invalidConnection]);
const requiredConnection = shared('RequiredConnectionId', [
  { field: 'Connection-Id', must: 'is required', message: 'Connection-Id header is required' },
  invalidConnection,
]);

export const limit = shared('limit', [
  refused('limit', Limit, ['?']),
  refused('limits', v.never(notKnown('parameter', 'limits', ['limit'])), ['50']),
]);
export const invalidCursor = (must: string): Refused => ({
  message: 'Invalid cursor',
  field: 'cursor',
  must,
});

export const pageParameters = [limit, shared('cursor', [invalidCursor(listCursor)])];

export const emptyRange: Refused = { field: 'from', must: 'must be before to' };

/** The parameters of a list's range, each with its description. */
export function rangeParameters(from: string, to: string, required = false): Parameter[] {
  const shown = (example: string) => ({ required, ...(required && { example }) }); // around the times of the examples
  return [
    {
      ...query('from', QueryTime, from, shown('2026-11-01')),
      refusals: [required ? refused('from', QueryTime, undefined) : undefined],
    },
    {
      ...query('to', QueryTime, to, shown('2026-12-01')),
      refusals: [refused('to', QueryTime, ['?']), emptyRange],
    },
  ];
}

const connectionHeader = (required: boolean): Json => ({
  name: 'Connection-Id',
  in: 'header',
  required,
  description: required
    ? `The connection to read, or \`${allConnections}\` for all of them.`
    : `Only what belongs to this connection. \`${allConnections}\` is as if it were left out.`,
  schema: { type: 'string' },
  // The reference fills examples in, and optional parameters are better left out.
  ...(required && { example: exampleConnectionId }),
});

export const listParameters: Record<string, Json> = {
  ConnectionId: connectionHeader(false),
  RequiredConnectionId: connectionHeader(true),
  limit: query('limit', Limit, 'The page size, at most 500.', { example: 100 }).written,
  cursor: query(
    'cursor',
    QueryText,
    'The `next` of the previous page. It is valid for the list, connection and filters that it came from.',
  ).written,
};

/** A parameter as its schema reads it, and as it refuses what it cannot read. */
export function query(
  name: string,
  schema: AnyQuery,
  description: string,
  { required = false, ...more }: { required?: boolean; example?: unknown } = {},
): Parameter {
  const metadata = metadataOf(schema);
  const isList = metadata.type === 'array';
  return {
    written: {
      name,
      in: 'query',
      ...(required && { required }),
      description: isList
        ? `${description} Repeat the parameter, or separate values with commas.`
        : description,
      schema: metadata,
      ...(isList && { style: 'form', explode: true }),
      ...more,
    },
    refusals: [refused(name, schema, ['?'])],
  };
}

type AnyQuery = v.GenericSchema<string[] | undefined, unknown>;

/** The JSON Schema of what a client writes, from the outermost metadata. */
function metadataOf(schema: AnyQuery): Json {
  if ('wrapped' in schema) return metadataOf(schema.wrapped as AnyQuery); // v.optional
  const pipe = 'pipe' in schema ? (schema.pipe as { kind: string; metadata?: Json }[]) : []; // v.pipe
  const metadata = pipe.findLast(({ kind }) => kind === 'metadata')?.metadata;
  return metadata ?? metadataOf(pipe[0] as unknown as AnyQuery); // a pipe begins with a schema
}

/** How the schema itself refuses a value; undefined if it is accepted. */
export function refused(
  field: string,
  schema: v.GenericSchema,
  value: unknown,
): Refused | undefined {
  const [issue] = v.safeParse(v.object({ [field]: schema }), { [field]: value }).issues ?? [];
  if (!issue) return undefined;
  const { field: at, message: must } = fieldError(issue);
  return { field: at, must };
}
