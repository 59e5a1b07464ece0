import { type Json, ref } from './components.ts';
import { exampleOf } from './example-of.ts';
import { examples } from './examples.ts';
import { always } from './shared.ts';

/** One operation of a document, as its route is: what it takes, what it returns, and how it refuses. */
export type Operation = {
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** With its parameters in braces. */
  path: string;
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** The credential it needs; absent if anybody may call it. */
  security?: 'ApiToken' | 'IngestKey' | 'OperatorKey';
  parameters?: Json[];
  /** The component that a body must be. */
  body?: string;
  reply: Reply;
  /** Messages of its 400, each with the fields it names; undefined stands for none. */
  refusals?: (Refused | undefined)[];
  /** Replies of its own, in addition to those that all operations have. */
  others?: Record<string, Json>;
};

/** A successful reply: its component's name, its message, and what `data` is, from which its example follows. */
export type Reply = {
  name: string;
  message: string;
  data: Json;
  /** Another than that. */
  example?: unknown;
  paged?: boolean;
  /** Whether there is always a cursor to come back with. */
  resumable?: boolean;
};

/** A 400 by its message, and the field and words of its `errors`, if it has any. */
export type Refused = { message: string; field?: string; must?: string };

const { requestId } = examples.Failure as { requestId: string }; // the example of that component

const exampleCursor = 'WzEsIjIwMjYtMTEtMjBUMTk6NTg6MDAuMDAwWiJd';

const limited = { ...always, 'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' } };

/** The operation as OpenAPI writes it, where `schemas` are the document's components. */
export function written(operation: Operation, schemas: Record<string, Json>): Json {
  const { id, tag, summary, description, security, parameters, body, reply } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: security ? [{ [security]: [] }] : [],
    ...(parameters && parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: ref(body), example: exampleOf(ref(body), schemas) } },
      },
    }),
    responses: {
      200: {
        description: reply.message,
        headers: headersFor(security),
        content: {
          'application/json': {
            schema: ref(reply.name),
            example: {
              status: 200,
              message: reply.message,
              data: reply.example ?? exampleOf(reply.data, schemas),
              ...(reply.paged && { next: exampleCursor }),
              ...(reply.resumable && { resume: exampleCursor }),
            },
          },
        },
      },
      ...refusalsOf(operation),
      ...operation.others,
    },
  };
}

/** The component of a reply's envelope. */
export const envelope = ({ data, paged, resumable }: Reply): Json => ({
  type: 'object',
  description: 'The envelope around what was asked for.',
  properties: {
    status: { type: 'integer', const: 200, description: 'Mirrors the HTTP status.' },
    message: { type: 'string', description: 'What happened, for people.' },
    data: { ...data, description: 'What was asked for.' },
    ...(paged && {
      next: { type: 'string', description: 'The cursor of the next page; absent if there is none.' },
    }),
    ...(resumable && {
      resume: {
        type: 'string',
        description: 'The cursor to come back with, whether there is a next page or not.',
      },
    }),
  },
  required: ['status', 'message', 'data', ...(resumable ? ['resume'] : [])],
});

function refusalsOf({ security, body, refusals: all = [] }: Operation): Json {
  const refusals = all.filter((refusal) => refusal !== undefined);
  const response = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    ...(refusals.length > 0 && { 400: badRequest(refusals, security) }),
    ...(security && { 401: response('Unauthorized') }),
    ...(security && security !== 'OperatorKey' && { 403: response('Forbidden') }),
    ...(body && { 413: response('TooLarge'), 415: response('NotJson') }),
    429: response('RateLimited'),
    500: response('InternalError'),
    503: response('Unavailable'),
  };
}

function badRequest(refusals: Refused[], security: Operation['security']): Json {
  const entries = refusals.map(({ message, field, must }) => [
    message,
    {
      value: {
        status: 400,
        message,
        ...(field && { errors: [{ field, message: must }] }),
        requestId,
      },
    },
  ]);
  return {
    description: refusals.map(({ message }) => `\`${message}\``).join(', '),
    headers: headersFor(security),
    content: {
      'application/json': { schema: ref('Failure'), examples: Object.fromEntries(entries) },
    },
  };
}

const headersFor = (security: Operation['security']) =>
  security && security !== 'OperatorKey' ? limited : always;
