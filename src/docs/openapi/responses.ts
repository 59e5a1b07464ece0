import { apiVersion } from '../../core/platform/http/context.ts';
import { type Json, ref } from './components.ts';
import { examples } from './examples.ts';

/** The headers that responses refer to. `securitySchemes` are those of the document. */
export const headers = (securitySchemes: Record<string, Json>): Record<string, Json> => ({
  RequestId: {
    description: "Identifies this request in the service's log. Quote it when you ask for help.",
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  ApiVersion: {
    description: 'The version of the API, a date. It changes only with a breaking change.',
    required: true,
    schema: { type: 'string', format: 'date', examples: [apiVersion] },
  },
  RateLimitPolicy: {
    description: 'How many calls a credential may make in how many seconds.',
    schema: { type: 'string', examples: ['"token";q=600;w=60'] },
  },
  RetryAfter: {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  WwwAuthenticate: {
    description: 'The authentication scheme to use.',
    required: true,
    schema: {
      type: 'string',
      examples: Object.values(securitySchemes).map(
        ({ type }) => `${type === 'http' ? 'Bearer' : 'ApiKey'} realm="Fleet Data Service"`,
      ),
    },
  },
});

const header = (name: string) => ({ $ref: `#/components/headers/${name}` });
const always = { 'X-Request-Id': header('RequestId'), 'API-Version': header('ApiVersion') };
export const retry = { ...always, 'Retry-After': header('RetryAfter') };

/** Whether calls with a credential of this kind are limited one by one. */
export const isLimited = (security: string): boolean =>
  security === 'ApiToken' || security === 'IngestKey';
/** The headers of a response to a call with such a credential. */
export const headersFor = (security: string) =>
  isLimited(security) ? { ...always, 'RateLimit-Policy': header('RateLimitPolicy') } : always;

/** The failures of all operations, with the body sizes of this document. */
export const responses = (tooLarge: string[]): Record<string, Json> => ({
  Unauthorized: failing(
    401,
    'No credential, or one that is malformed, unknown, revoked or expired.',
    ['Invalid or expired token'],
    { headers: { ...always, 'WWW-Authenticate': header('WwwAuthenticate') } },
  ),
  Forbidden: failing(
    403,
    'A credential that is not valid for this operation, such as a read-only token for a change, or a suspended account, which `reason` says.',
    ['Insufficient permissions'],
  ),
  TooLarge: failing(413, 'The body is too large.', tooLarge),
  NotJson: failing(415, 'The body is not JSON, or compressed otherwise than with gzip.', [
    'Content-Type must be application/json',
    'Content-Encoding must be gzip or identity',
  ]),
  RateLimited: failing(
    429,
    'Too many calls. Wait `Retry-After` seconds.',
    ['Rate limit exceeded'],
    {
      retryAfter: 24,
    },
  ),
  InternalError: failing(
    500,
    'A fault of the service. It is safe to retry, unless the method is POST.',
    ['Internal error'],
  ),
  Unavailable: failing(
    503,
    'The database is temporarily overloaded.',
    ['Temporarily unavailable, try again'],
    { retryAfter: 2 },
  ),
});

export const { requestId } = examples.Failure as { requestId: string }; // the example of that component

/** A failure's response, with an example for each message. */
export const failing = (
  status: number,
  description: string,
  messages: string[],
  {
    retryAfter,
    headers = retryAfter ? retry : always,
  }: { retryAfter?: number; headers?: Json } = {},
): Json =>
  failed(
    description,
    headers,
    messages.map((message) => ({ status, message, requestId, ...(retryAfter && { retryAfter }) })),
  );

/** A failure's response, with these bodies as examples. */
export const failed = (
  description: string,
  headers: Json,
  values: { message: string }[],
): Json => ({
  description,
  headers,
  content: {
    'application/json': {
      schema: ref('Failure'),
      examples: Object.fromEntries(values.map((value) => [value.message, { value }])),
    },
  },
});

/** The 400 of operators' operations. */
export const refusal = failing(400, '`message` says why, and `errors` which fields are invalid.', [
  'Unknown account',
]);
