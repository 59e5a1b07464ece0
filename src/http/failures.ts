import { routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { type Failure, refusalIn } from '../errors.ts';
import { described, fault } from '../log.ts';
import type { Context } from './context.ts';

const statuses = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not found': 404,
  'method not allowed': 405,
  'too large': 413,
  'not json': 415,
  'rate limited': 429,
  unavailable: 503,
  unhealthy: 503,
} satisfies Record<Failure['kind'], ContentfulStatusCode>;

/** Turns anything thrown into a reply (design 5). What is not a refusal is our own fault. */
export function renderFailure(error: unknown, c: Context): Response {
  const requestId = c.get('requestId');
  const refusal = refusalIn(error);
  if (refusal?.failure.kind === 'unavailable')
    fault('warn', { message: 'Database unavailable', requestId, route: routePath(c), ...described(refusal) });
  if (refusal) return render(refusal.failure, c);
  fault('error', { message: 'Internal error', requestId, route: routePath(c), ...described(error) });
  return c.json({ status: 500, message: 'Internal error', requestId }, 500);
}

function render(failure: Failure, c: Context): Response {
  const status = statuses[failure.kind];
  const body = { status, message: messageOf(failure), requestId: c.get('requestId') };
  switch (failure.kind) {
    case 'invalid':
      return c.json({ ...body, ...(failure.errors && { errors: failure.errors }) }, status);
    case 'unauthenticated':
      return c.json(body, status, { 'WWW-Authenticate': 'ApiKey realm="Fleet Data Service"' });
    case 'method not allowed':
      return c.json(body, status, { Allow: failure.allow.join(', ') });
    case 'rate limited':
    case 'unavailable':
      return c.json({ ...body, retryAfter: failure.retryAfter }, status, {
        'Retry-After': String(failure.retryAfter),
      });
    case 'unhealthy':
      return c.json({ ...body, retryAfter: failure.retryAfter, data: failure.data }, status, {
        'Retry-After': String(failure.retryAfter),
      });
    default:
      return c.json(body, status);
  }
}

function messageOf(failure: Failure): string {
  switch (failure.kind) {
    case 'invalid':
    case 'unhealthy':
      return failure.message;
    case 'unauthenticated':
      return 'Invalid or expired token';
    case 'forbidden':
      return 'Insufficient permissions';
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
    case 'unavailable':
      return 'Temporarily unavailable, try again';
  }
}
