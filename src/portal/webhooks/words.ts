import { counted } from '../../webhooks/alerts/words.ts';
import { retries } from '../../webhooks/deliveries/policy.ts';
import type { Attempt } from '../../webhooks/deliveries/record.ts';
import { ACCIDENT, EVENT, type NotificationType } from '../../webhooks/notifications/types.ts';
import { duration } from '../ui/format.ts';

type Happened = Pick<Attempt, 'result' | 'status'>;

/** What receivers do that do not respond as they should: in a word or two, as a sentence, and to follow "Its receiver". */
const failures: { [result in Exclude<Attempt['result'], 'success' | 'status' | 'redirect'>]: Failure } = {
  timeout: {
    brief: 'Timed out',
    sentence: `Your receiver did not respond within ${retries.timeoutSeconds} s.`,
    description: 'does not respond in time',
  },
  dns: {
    brief: 'Host not found',
    sentence: 'The host name of your receiver was not found.',
    description: 'has a host name that cannot be found',
  },
  tls: {
    brief: 'Bad certificate',
    sentence: 'Your receiver has no certificate that we can trust.',
    description: 'has no certificate that we can trust',
  },
  connection: {
    brief: 'No connection',
    sentence: 'Your receiver could not be reached.',
    description: 'cannot be reached',
  },
  'blocked address': {
    brief: 'Address not allowed',
    sentence: 'Your receiver has an address that we do not call.',
    description: 'has an address that we do not call',
  },
};
type Failure = { brief: string; sentence: string; description: string };

/** What an attempt led to, in a word or two: "200", "410 Gone", "Timed out". */
export function briefly({ result, status }: Happened): string {
  if (result === 'success' || result === 'status') return nameOf(status);
  return result === 'redirect' ? `${status} Redirect` : failures[result].brief;
}

/** What an attempt led to, as a sentence. */
export function outcomeOf(attempt: Pick<Attempt, 'result' | 'status' | 'durationMs'>): string {
  const { result, status } = attempt;
  const time = duration(attempt.durationMs);
  if (result === 'success' || result === 'status')
    return `Your receiver returned ${nameOf(status)} in ${time}.`;
  if (result === 'redirect')
    return `Your receiver returned a redirect (${status}) in ${time}. Redirects are not followed.`;
  return failures[result].sentence;
}

/** What a receiver does, to follow "Its receiver": "returns 410 Gone". */
export function failureDescription({ result, status }: Happened): string {
  if (result === 'success' || result === 'status') return `returns ${nameOf(status)}`;
  return result === 'redirect' ? `returns a redirect (${status})` : failures[result].description;
}

/** "1 delivery", "2 deliveries"; of `most`, "500 or more deliveries". */
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

/** Notification types in words. */
const typeNames = { [ACCIDENT]: 'accidents', [EVENT]: 'safety events' };

/** What a webhook subscribes to, in words. */
export const typesOf = ({ notificationTypes }: { notificationTypes: NotificationType[] }): string =>
  notificationTypes.map((type) => typeNames[type]).join(' and ');

/** What a webhook is called: its name, or the host of its address. */
export const titleOf = ({ name, url }: { name: string | null; url: string }): string =>
  name ?? (URL.canParse(url) ? new URL(url).host : url);

/** The path of a webhook's page. */
export const pathOf = ({ id }: { id: string }): string => `/portal/webhooks/${id}`;

/** The pages above those of a webhook. */
export const aboveOf = (webhook: { id: string; name: string | null; url: string }) => [
  { href: '/portal/webhooks', name: 'Webhooks' },
  { href: pathOf(webhook), name: titleOf(webhook) },
];
