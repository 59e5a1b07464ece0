import { type Attempt, retries } from '../core/webhooks/deliveries/policy.ts';
import { duration } from './words.ts';

export type Happened = Pick<Attempt, 'result' | 'status' | 'reason'>;

/** The failures without a response: in a word or two, and to follow "Your receiver". */
const failures = {
  timeout: { brief: 'Timed out', does: `does not respond within ${retries.timeoutSeconds} s` },
  dns: { brief: 'Host not found', does: 'has a host name that cannot be found' },
  tls: { brief: 'Bad certificate', does: 'has no certificate that we can trust' },
  connection: { brief: 'No connection', does: 'cannot be reached' },
  token: { brief: 'No access token', does: 'was not called, because it needs an access token' },
  'blocked address': { brief: 'Address not allowed', does: 'has an address that we do not call' },
};

/** What failed, in a word or two: "Host not found"; a result that is not known here is as it is. */
export const failureName = (result: string): string =>
  new Map(Object.entries(failures)).get(result)?.brief ?? result;

/** The result of an attempt in a word or two: "200", "410 Gone", "Timed out". */
export function briefly({ result, status }: Happened): string {
  if (result === 'success' || result === 'status') return nameOf(status);
  return result === 'redirect' ? `${status} Redirect` : failures[result].brief;
}

/** What a receiver does, to follow "Your receiver": "returns 410 Gone". `inTime` follows a status. */
export function failureDescription(happened: Happened, returns = 'returns', inTime = ''): string {
  const { result, status, reason } = happened;
  if (result === 'redirect')
    return [returns, `a redirect (${status})`, reason].filter(Boolean).join(' ');
  const hasStatus = result === 'success' || result === 'status';
  const does = hasStatus ? `${returns} ${nameOf(status)}${inTime}` : failures[result].does;
  return reason === undefined ? does : `${does}: ${reason}`;
}

/** The result of an attempt as a sentence. */
export function outcomeOf(attempt: Happened & { durationMs: number }): string {
  const inTime = ` in ${duration(attempt.durationMs)}`;
  const outcome = `Your receiver ${failureDescription(attempt, 'returned', inTime)}.`;
  return attempt.result === 'redirect' ? `${outcome} Redirects are not followed.` : outcome;
}

const nameOf = (status: number | undefined): string =>
  `${status} ${names[status ?? 0] ?? ''}`.trim();

const names: { [status: number]: string } = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};
