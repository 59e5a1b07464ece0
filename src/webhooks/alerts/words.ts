import type { Happened } from './report.ts';

/** What a receiver did at an attempt, as people say it: `answers 503`. */
export function wordsFor({ result, status }: Happened): string {
  switch (result) {
    case 'success':
    case 'status':
      return `answers ${status}`;
    case 'redirect':
      return `answers with a redirect (${status})`;
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

/** A count of something: `1 delivery`, `1,234 deliveries`; from `max` on, `100 or more deliveries`. */
export function counted(count: number, one: string, many: string, max = Number.POSITIVE_INFINITY): string {
  const digits = count.toLocaleString('en-US');
  return count >= max ? `${digits} or more ${many}` : `${digits} ${count === 1 ? one : many}`;
}

/** A point in time (milliseconds since 1970) to the minute, in UTC: `2026-11-20 20:00 UTC`. */
export const minuteOf = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
