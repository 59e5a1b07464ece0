import * as v from 'valibot';
import { apiVersion } from '../../platform/http/envelope.ts';
import { type Json, ref } from './components.ts';
import { examples } from './examples.ts';

/** The components of both documents. */
export const FieldError = v.object({ field: v.string(), message: v.string() });

export const Failure = v.object({
  status: v.pipe(v.number(), v.integer()),
  message: v.string(),
  requestId: v.pipe(v.string(), v.uuid()),
  errors: v.optional(v.array(FieldError)),
  retryAfter: v.optional(v.pipe(v.number(), v.integer())),
});

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

/** The headers of every response. */
export const always = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
  'API-Version': { $ref: '#/components/headers/ApiVersion' },
};
/** The headers of a response that says when to retry. */
export const retry = { ...always, 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };

/** A failure's response, with an example for each message. */
export const failing = (
  status: number,
  description: string,
  messages: string[],
  headers: Json = always,
  more: object = {},
): Json => ({
  description,
  headers,
  content: {
    'application/json': {
      schema: ref('Failure'),
      examples: Object.fromEntries(
        messages.map((message) => [
          message,
          { value: { ...(examples.Failure as object), status, message, ...more } }, // the component's example
        ]),
      ),
    },
  },
});

/** The failures of all operations, with the body sizes of this document. */
export const responses = (tooLarge: string[]): Record<string, Json> => ({
  Unauthorized: failing(
    401,
    'No credential, or one that is malformed, unknown, revoked or expired.',
    ['Invalid or expired token'],
    { ...always, 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } },
  ),
  Forbidden: failing(
    403,
    'A credential that is not valid for this operation, such as a read-only token for a change, or a suspended account.',
    ['Insufficient permissions'],
  ),
  TooLarge: failing(413, 'The body is too large.', tooLarge),
  NotJson: failing(415, 'The body is not JSON.', ['Content-Type must be application/json']),
  RateLimited: failing(429, 'Too many calls. Wait `Retry-After` seconds.', ['Rate limit exceeded'], retry, {
    retryAfter: 24,
  }),
  InternalError: failing(500, 'A fault of the service. It is safe to retry, unless the method is POST.', [
    'Internal error',
  ]),
  Unavailable: failing(
    503,
    'The database is temporarily overloaded.',
    ['Temporarily unavailable, try again'],
    retry,
    { retryAfter: 2 },
  ),
});
