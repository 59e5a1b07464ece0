import { sentence } from '../../platform/fields.ts';
import { type Json, ref } from './components.ts';
import { examples } from './examples.ts';
import { always } from './shared.ts';

/** One operation of a document: its request, its response, and its refusals. */
export type Operation = {
  /** Its method, and its path with parameters in braces. */
  call: `${'get' | 'post' | 'put' | 'patch' | 'delete'} ${string}`;
  id: string;
  summary: string;
  description?: string;
  /** The credential it needs, by default an API token. */
  security?: 'ApiToken' | 'IngestKey' | 'OperatorKey' | 'none';
  parameters?: Json[];
  /** The component of its body. */
  body?: string;
  reply: Reply;
  /** Its 400s, besides those of all operations with a body; undefined stands for none. */
  refusals?: (Refused | undefined)[];
  /** Responses in addition to those of all operations. */
  others?: Record<string, Json>;
};

/** A successful response: its component's name, its message, and the type of `data`, from which its example follows. */
export type Reply = {
  name: string;
  message: string;
  data: Json;
  /** A different example. */
  example?: unknown;
  paged?: boolean;
  /** Whether there is always a cursor for the next call. */
  resumable?: boolean;
};

/** A 400: its message, or the field and what it must be, which is also the message unless one is given. */
export type Refused = string | { field: string; must: string; message?: string };

const { requestId } = examples.Failure as { requestId: string }; // the example of that component

const exampleCursor = 'WzEsIjIwMjYtMTEtMjBUMTk6NTg6MDAuMDAwWiJd';

const limited = { ...always, 'RateLimit-Policy': { $ref: '#/components/headers/RateLimitPolicy' } };

/** The operation as OpenAPI writes it. */
export function written(operation: Operation, tag: string): Json {
  const { id, summary, description, security = 'ApiToken', parameters, body, reply } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: security === 'none' ? [] : [{ [security]: [] }],
    ...(parameters && parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: ref(body), example: examples[body] } },
      },
    }),
    responses: {
      200: {
        description: reply.message,
        headers: headersFor(security),
        content: { 'application/json': { schema: ref(reply.name), example: exampleOf(reply) } },
      },
      ...refusalsOf(operation),
      ...operation.others,
    },
  };
}

function exampleOf({ message, example, data, paged, resumable }: Reply): Json | undefined {
  const shown = example ?? dataExample(data);
  if (shown === undefined) return undefined;
  return {
    status: 200,
    message,
    data: shown,
    ...(paged && { next: exampleCursor }),
    ...(resumable && { resume: exampleCursor }),
  };
}

/** The example of a component, in a list if `data` is one; undefined if it has none. */
function dataExample({ $ref, const: only, items }: Json): unknown {
  if (typeof $ref === 'string') return examples[$ref.slice($ref.lastIndexOf('/') + 1)];
  const item = items && dataExample(items as Json); // as JSON Schema has it
  return item ? [item] : only;
}

/** The component of a response's envelope. */
export const envelope = ({ data, paged, resumable }: Reply): Json => ({
  type: 'object',
  description: 'The envelope of the result.',
  properties: {
    status: { type: 'integer', const: 200, description: 'The HTTP status.' },
    message: { type: 'string', description: 'The result, for people.' },
    data: { ...data, description: 'The result.' },
    ...(paged && {
      next: { type: 'string', description: 'The cursor of the next page; absent if there is none.' },
    }),
    ...(resumable && {
      resume: {
        type: 'string',
        description: 'The cursor to continue with, even if there is no next page.',
      },
    }),
  },
  required: ['status', 'message', 'data', ...(resumable ? ['resume'] : [])],
});

function refusalsOf({ security = 'ApiToken', body, refusals: all = [] }: Operation): Json {
  const refusals = [...all, body && 'Request body is not valid JSON'].filter((one) => one !== undefined);
  const response = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    ...(refusals.length > 0 && { 400: badRequest(refusals, security) }),
    ...(security !== 'none' && { 401: response('Unauthorized') }),
    ...(isLimited(security) && { 403: response('Forbidden') }),
    ...(body && { 413: response('TooLarge'), 415: response('NotJson') }),
    429: response('RateLimited'),
    500: response('InternalError'),
    503: response('Unavailable'),
  };
}

function badRequest(refusals: Refused[], security: string): Json {
  const values = refusals.map((refusal) => {
    if (typeof refusal === 'string') return { status: 400, message: refusal, requestId };
    const { field, must, message = sentence({ field, message: must }) } = refusal;
    return { status: 400, message, errors: [{ field, message: must }], requestId };
  });
  return {
    description: values.map(({ message }) => `\`${message}\``).join(', '),
    headers: headersFor(security),
    content: {
      'application/json': {
        schema: ref('Failure'),
        examples: Object.fromEntries(values.map((value) => [value.message, { value }])),
      },
    },
  };
}

const isLimited = (security: string): boolean => security === 'ApiToken' || security === 'IngestKey';
const headersFor = (security: string) => (isLimited(security) ? limited : always);
