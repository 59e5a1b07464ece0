import { routePath } from 'hono/route';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { cellHeader } from '../cells.ts';
import { type Failure, overQuota, refusalIn } from '../errors.ts';
import { fault } from '../log.ts';
import { capital } from '../text.ts';
import type { Context } from './context.ts';

/** What a caller sees: a refusal, or an internal error. */
export type ReportedFailure = Failure | { kind: 'internal error' };

/** The response to each kind; those without a message carry their own. */
const replies = {
  invalid: { status: 400 },
  unauthenticated: { status: 401, message: 'Invalid or expired token' },
  forbidden: { status: 403, message: 'Insufficient permissions' },
  'not allowed': { status: 403, message: 'Insufficient permissions' },
  'in clear': {
    status: 403,
    message: 'Use https. A token that was sent over http may have been read: replace it',
  },
  'cross-site': { status: 403, message: 'This request was not sent from this site' },
  'not found': { status: 404, message: 'Not found' },
  'method not allowed': { status: 405, message: 'Method not allowed' },
  'too large': { status: 413 },
  'not json': { status: 415, message: 'Content-Type must be application/json' },
  'not gzip': { status: 415, message: 'Content-Encoding must be gzip or identity' },
  'rate limited': { status: 429, message: 'Rate limit exceeded' },
  'over quota': { status: 429 },
  'internal error': { status: 500, message: 'Internal error' },
  unavailable: { status: 503, message: 'Temporarily unavailable, try again' },
  moved: { status: 421, message: 'This account is in another cell' },
  unhealthy: { status: 503 },
} satisfies Record<ReportedFailure['kind'], { status: ContentfulStatusCode; message?: string }>;

/** Renders anything thrown as JSON, for API clients. */
export function renderFailure(error: unknown, c: Context): Response {
  const failure = failureOf(error, c);
  const status = statusOf(failure.kind);
  const body = {
    status,
    message: messageOf(failure),
    requestId: c.get('requestId'),
    ...('reason' in failure && { reason: failure.reason }),
    ...('errors' in failure && {
      errors: failure.errors?.map(({ field, message }) => ({ field, message })),
    }),
    ...('retryAfter' in failure && { retryAfter: failure.retryAfter }),
    ...('data' in failure && { data: failure.data }),
  };
  return c.json(body, status, headersOf(failure));
}

/** The failure that an error is or was caused by. Logs faults on our side. */
export function failureOf(error: unknown, c: Context): ReportedFailure {
  const where = { requestId: c.get('requestId'), route: routePath(c) };
  const refusal = refusalIn(error);
  // Without a cause it is intended, such as while an account moves.
  if (refusal?.failure.kind === 'unavailable' && refusal.cause)
    fault('warn', 'Database unavailable', where, refusal);
  if (refusal) return refusal.failure;
  fault('error', 'Internal error', where, error);
  return { kind: 'internal error' };
}

export const statusOf = (kind: ReportedFailure['kind']): ContentfulStatusCode =>
  replies[kind].status;

export function headersOf(failure: ReportedFailure): Record<string, string> {
  if ('retryAfter' in failure) return { 'Retry-After': String(failure.retryAfter) };
  if ('cells' in failure) return { [cellHeader]: failure.cells.join(', ') };
  if ('allow' in failure) return { Allow: failure.allow.join(', ') };
  if (failure.kind === 'unauthenticated')
    return { 'WWW-Authenticate': `${failure.scheme ?? 'ApiKey'} realm="Fleet Data Service"` };
  return failure.kind === 'not gzip' ? { 'Accept-Encoding': 'gzip' } : {};
}

function messageOf(failure: ReportedFailure): string {
  if ('message' in failure) return failure.message;
  if ('quota' in failure) return overQuota(failure.quota);
  if ('limitBytes' in failure)
    return `Request body is larger than ${failure.limitBytes / 1024} KiB`;
  if ('what' in failure && failure.what) return `${capital(failure.what)} not found`;
  return replies[failure.kind].message;
}
