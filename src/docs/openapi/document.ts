import * as v from 'valibot';
import { sentence } from '../../core/platform/fields.ts';
import { apiVersion } from '../../core/platform/http/context.ts';
import { components, converted, type Json, ref, type Texts } from './components.ts';
import { failed, headers, headersFor, isLimited, requestId, responses } from './responses.ts';

export type Parts = {
  title: string;
  description: string;
  /** Its operations by tag, with the tag's description. */
  groups: Groups;
  texts: Texts;
  /** Components by name: requests, and responses that are sent unchanged. */
  schemas: Record<string, v.GenericSchema>;
  /** Components of responses whose schemas transform what is sent. */
  replies?: Record<string, v.GenericSchema>;
  securitySchemes: Record<string, Json>;
  parameters?: Record<string, Json>;
  /** Messages of 413. */
  tooLarge: string[];
  webhooks?: Json;
};

export type Operation = {
  call: `${'get' | 'post' | 'put' | 'patch' | 'delete'} ${string}`;
  summary: string;
  description?: string;
  /** The credential it needs, by default an API token. */
  security?: 'ApiToken' | 'IngestKey' | 'OperatorKey' | 'none';
  parameters?: Parameter[];
  /** The component of its body. */
  body?: string;
  reply: Reply | FileReply;
  /** Its 400s, besides those of its parameters and of all operations with a body. */
  refusals?: Refusals;
  /** Responses in addition to those of all operations. */
  others?: Record<string, Json>;
};

export type Groups = { [tag: string]: [description: string, Operations] };

/** Operations by their ids. */
export type Operations = { [id: string]: Operation };

/** A parameter as OpenAPI writes it, and how it is refused. */
export type Parameter = { written: Json; refusals?: Refusals };

/** A successful response; its example follows from the type of `data`. */
export type Reply = {
  name: string;
  message: string;
  data: Json;
  example?: unknown;
  paged?: boolean;
  /** Whether there is always a cursor for the next call. */
  resumable?: boolean;
};

/** A successful response that is a file, which this describes, of any type unless `type` says which. */
type FileReply = { file: string; type?: string; ranges?: true };

/** 400s: a message, or a field and what it must be, which is also the usual message. */
export type Refusals = (string | Refused | undefined)[];
export type Refused = { field: string; must: string; message?: string };

const FieldError = v.object({ field: v.string(), message: v.string() });

export const Failure = v.object({
  status: v.pipe(v.number(), v.integer()),
  message: v.string(),
  requestId: v.pipe(v.string(), v.uuid()),
  reason: v.optional(v.string()),
  errors: v.optional(v.array(FieldError)),
  retryAfter: v.optional(v.pipe(v.number(), v.integer())),
});

/** Builds an OpenAPI 3.1 document. */
export function document(parts: Parts): Json {
  const {
    title,
    description,
    groups,
    texts,
    schemas,
    replies = {},
    securitySchemes,
    parameters,
    webhooks,
  } = parts;
  const paths: Record<string, Json> = {};
  const envelopes: Record<string, Json> = {};
  for (const [tag, [, operations]] of Object.entries(groups))
    for (const [id, operation] of Object.entries(operations)) {
      const [method = '', path = ''] = operation.call.split(' ');
      paths[path] = { ...paths[path], [method]: written(id, operation, tag, texts) };
      if ('name' in operation.reply) envelopes[operation.reply.name] = envelope(operation.reply);
    }
  return {
    openapi: '3.1.1',
    info: {
      title,
      version: apiVersion,
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that this document came from.' }],
    tags: Object.entries(groups).map(([name, [description]]) => ({ name, description })),
    paths,
    ...(webhooks && { webhooks }),
    components: {
      securitySchemes,
      ...(parameters && { parameters }),
      headers: headers(securitySchemes),
      responses: responses(parts.tooLarge),
      schemas: {
        ...components({ ...schemas, Failure, FieldError }, texts),
        ...converted(replies, 'output'),
        ...envelopes,
      },
    },
  };
}

function written(id: string, operation: Operation, tag: string, { examples }: Texts): Json {
  const { summary, description, security = 'ApiToken', parameters = [], body, reply } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: security === 'none' ? [] : [{ [security]: [] }],
    ...(parameters.length > 0 && { parameters: parameters.map(({ written }) => written) }),
    ...(body && { requestBody: requestBody(body, examples) }),
    responses: {
      ...('file' in reply
        ? fileResponses(reply, security)
        : { 200: ofReply(reply, security, examples) }),
      ...failuresOf(operation),
      ...operation.others,
    },
  };
}

const ofReply = (reply: Reply, security: string, examples: Texts['examples']): Json => ({
  description: reply.message,
  headers: headersFor(security),
  content: { 'application/json': { schema: ref(reply.name), example: exampleOf(reply, examples) } },
});

const contentRange = {
  description: 'Which bytes of the file these are, and how many it has.',
  required: true,
  schema: { type: 'string', examples: ['bytes 0-1023/8412310'] },
};

function fileResponses({ file, type = '*/*', ranges }: FileReply, security: string): Json {
  const headers = headersFor(security);
  const content = { [type]: { schema: { type: 'string', format: 'binary' } } };
  const ranged = { ...headers, 'Content-Range': contentRange };
  return {
    200: { description: file, headers, content },
    ...(ranges && {
      206: { description: 'The range that was asked for.', headers: ranged, content },
      416: { description: 'The file has no such range. There is no body.', headers: ranged },
    }),
  };
}

/** The body of a request: a component, with its example. */
export const requestBody = (name: string, examples: Texts['examples']): Json => ({
  required: true,
  content: { 'application/json': { schema: ref(name), example: examples[name] } },
});

function failuresOf({
  security = 'ApiToken',
  parameters = [],
  body,
  refusals = [],
}: Operation): Json {
  const all = [
    ...parameters.flatMap((parameter) => parameter.refusals ?? []),
    ...refusals,
    ...(body
      ? [
          {
            field: '',
            must: 'is not JSON at line 1, character 2',
            message: 'Request body is not valid JSON',
          },
          'Request body is not valid UTF-8',
          'Request body is not valid gzip',
        ]
      : []),
  ].filter((one) => one !== undefined);
  const response = (name: string) => ({ $ref: `#/components/responses/${name}` });
  return {
    ...(all.length > 0 && { 400: badRequest(all, security) }),
    ...(security !== 'none' && { 401: response('Unauthorized') }),
    ...(isLimited(security) && { 403: response('Forbidden') }),
    ...(body && { 413: response('TooLarge'), 415: response('NotJson') }),
    429: response('RateLimited'),
    500: response('InternalError'),
    503: response('Unavailable'),
  };
}

function badRequest(refusals: (string | Refused)[], security: string): Json {
  const values = refusals.map((refusal) => {
    if (typeof refusal === 'string') return { status: 400, message: refusal, requestId };
    const { field, must, message = sentence({ field, message: must }) } = refusal;
    return { status: 400, message, errors: [{ field, message: must }], requestId };
  });
  return failed(
    values.map(({ message }) => `\`${message}\``).join(', '),
    headersFor(security),
    values,
  );
}

const exampleCursor = 'WzEsIjIwMjYtMTEtMjBUMTk6NTg6MDAuMDAwWiJd';

function exampleOf(
  { message, data, paged, resumable, ...reply }: Reply,
  examples: Texts['examples'],
): Json | undefined {
  const { example = dataExample(data, examples) } = reply;
  if (example === undefined) return undefined;
  return {
    status: 200,
    message,
    data: example,
    ...(paged && { next: exampleCursor }),
    ...(resumable && { resume: exampleCursor }),
  };
}

/** The example of a component, in a list if `data` is one; undefined if it has none. */
function dataExample({ $ref, const: only, items }: Json, examples: Texts['examples']): unknown {
  if (typeof $ref === 'string') return examples[$ref.slice($ref.lastIndexOf('/') + 1)];
  const item = items && dataExample(items as Json, examples); // as JSON Schema has it
  return item ? [item] : only;
}

const envelope = ({ data, paged, resumable }: Reply): Json => ({
  type: 'object',
  description: 'The envelope of the result.',
  properties: {
    status: { type: 'integer', const: 200, description: 'The HTTP status.' },
    message: { type: 'string', description: 'The result, for people.' },
    data: { ...data, description: 'The result.' },
    ...(paged && {
      next: {
        type: 'string',
        description: 'The cursor of the next page; absent if there is none.',
      },
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
