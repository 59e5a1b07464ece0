import { retries } from '../../webhooks/deliveries/policy.ts';
import type { Attempt } from '../../webhooks/deliveries/record.ts';

type Happened = Pick<Attempt, 'result' | 'status'>;

/** What an attempt led to, in a word or two: "200", "410 Gone", "Timed out". */
export function briefly({ result, status }: Happened): string {
  switch (result) {
    case 'success':
    case 'status':
      return nameOf(status);
    case 'redirect':
      return `${status} Redirect`;
    case 'timeout':
      return 'Timed out';
    case 'dns':
      return 'Host not found';
    case 'tls':
      return 'Bad certificate';
    case 'connection':
      return 'No connection';
    case 'blocked address':
      return 'Address not allowed';
  }
}

/** What an attempt led to, as a sentence. */
export function told({
  result,
  status,
  durationMs,
}: Pick<Attempt, 'result' | 'status' | 'durationMs'>): string {
  switch (result) {
    case 'success':
    case 'status':
      return `Your receiver returned ${nameOf(status)} in ${duration(durationMs)}.`;
    case 'redirect':
      return `Your receiver returned a redirect (${status}) in ${duration(durationMs)}. Redirects are not followed.`;
    case 'timeout':
      return `Your receiver did not respond within ${retries.timeoutSeconds} s.`;
    case 'dns':
      return 'The host name of your receiver was not found.';
    case 'tls':
      return 'Your receiver has no certificate that we can trust.';
    case 'connection':
      return 'Your receiver could not be reached.';
    case 'blocked address':
      return 'Your receiver has an address that we do not call.';
  }
}

/** What its receiver does, to follow "Its receiver": "returns 410 Gone". */
export function habit({ result, status }: Happened): string {
  switch (result) {
    case 'success':
    case 'status':
      return `returns ${nameOf(status)}`;
    case 'redirect':
      return `returns a redirect (${status})`;
    case 'timeout':
      return 'does not answer in time';
    case 'dns':
      return 'has a host name that cannot be found';
    case 'tls':
      return 'has no certificate that we can trust';
    case 'connection':
      return 'cannot be reached';
    case 'blocked address':
      return 'has an address that we do not call';
  }
}

/** A time span: "41 ms", "2,140 ms", "15 s". */
export const duration = (ms: number): string =>
  ms < 10_000 ? `${ms.toLocaleString('en')} ms` : `${Math.round(ms / 1000)} s`;

/** A count of something: "1 delivery", "2 deliveries"; `most` means that many or more: "500+ deliveries". */
export const counted = (count: number, one: string, many: string, most = Number.POSITIVE_INFINITY): string =>
  `${upTo(count, most)} ${count === 1 ? one : many}`;

/** A count, where `most` means that many or more. */
export const upTo = (count: number, most: number): string =>
  `${count.toLocaleString('en')}${count < most ? '' : '+'}`;

export const deliveries = (count: number, most?: number): string =>
  counted(count, 'delivery', 'deliveries', most);

const nameOf = (status: number | undefined): string => `${status} ${names[status ?? 0] ?? ''}`.trim();

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
