import { routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type Failure, refusalIn } from '../errors.ts';
import { described, fault } from '../log.ts';
import type { Context } from './context.ts';

/** What a caller is told of: a refusal, or that something is wrong on our side. */
export type ReportedFailure = Failure | { kind: 'internal error' };

const statuses = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not allowed': 403,
  'cross-site': 403,
  'not found': 404,
  'method not allowed': 405,
  'too large': 413,
  'not json': 415,
  'rate limited': 429,
  'internal error': 500,
  unavailable: 503,
  moved: 503,
  unhealthy: 503,
} satisfies Record<ReportedFailure['kind'], ContentfulStatusCode>;

/** Renders anything thrown as JSON, for API clients. */
export function renderFailure(error: unknown, c: Context): Response {
  const failure = failureOf(error, c);
  const status = statusOf(failure.kind);
  const body = {
    status,
    message: messageOf(failure),
    requestId: c.get('requestId'),
    ...('errors' in failure && { errors: failure.errors }),
    ...('retryAfter' in failure && { retryAfter: failure.retryAfter }),
    ...('data' in failure && { data: failure.data }),
  };
  return c.json(body, status, headersOf(failure));
}

/** The failure that an error is or was caused by. Logs what went wrong on our side. */
export function failureOf(error: unknown, c: Context): ReportedFailure {
  const where = { requestId: c.get('requestId'), route: routePath(c) };
  const refusal = refusalIn(error);
  // Without a cause it is refused on purpose, such as a write while its account moves.
  if (refusal?.failure.kind === 'unavailable' && refusal.cause)
    fault('warn', { message: 'Database unavailable', ...where, ...described(refusal) });
  if (refusal) return refusal.failure;
  fault('error', { message: 'Internal error', ...where, ...described(error) });
  return { kind: 'internal error' };
}

/** The HTTP status of a kind of failure. */
export const statusOf = (kind: ReportedFailure['kind']): ContentfulStatusCode => statuses[kind];

/** The headers that a reply about `failure` must have. */
export function headersOf(failure: ReportedFailure): Record<string, string> {
  switch (failure.kind) {
    case 'unauthenticated':
      return { 'WWW-Authenticate': `${failure.scheme ?? 'ApiKey'} realm="Fleet Data Service"` };
    case 'method not allowed':
      return { Allow: failure.allow.join(', ') };
    case 'rate limited':
    case 'unavailable':
    case 'moved':
    case 'unhealthy':
      return { 'Retry-After': String(failure.retryAfter) };
    default:
      return {};
  }
}

function messageOf(failure: ReportedFailure): string {
  switch (failure.kind) {
    case 'invalid':
    case 'unhealthy':
      return failure.message;
    case 'unauthenticated':
      return 'Invalid or expired token';
    case 'forbidden':
    case 'not allowed':
      return 'Insufficient permissions';
    case 'cross-site':
      return 'This request was not sent from this site';
    case 'not found':
      return 'Not found';
    case 'method not allowed':
      return 'Method not allowed';
    case 'too large':
      return `Request body is larger than ${failure.limitBytes / 1024} KiB`;
    case 'not json':
      return 'Content-Type must be application/json';
    case 'rate limited':
      return 'Rate limit exceeded';
    case 'internal error':
      return 'Internal error';
    case 'unavailable':
    case 'moved':
      return 'Temporarily unavailable, try again';
  }
}
