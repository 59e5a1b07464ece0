import { version } from '../../package.json';
import { readUpTo } from '../platform/body.ts';
import { parseRetryAfter } from '../platform/retry-after.ts';
import { Problem, type ProblemKind } from './problem.ts';
import { parsedJson } from './read.ts';

/** The time for a page with all its calls: background work ends after 30 s. */
export const pageMs = 18_000;

/**
 * An invocation pulls from five providers at once, in memory shared with deliveries: parsed JSON takes far more memory
 * than its text, the more values it has.
 */
export const maxReplyBytes = 2 * 1024 * 1024;
export const maxValues = 100_000;

export type Call = {
  url: string;
  headers?: Record<string, string>;
  /** Undefined parameters are left out. */
  query?: { [name: string]: string | number | boolean | undefined };
  /** Sent as JSON, by POST. */
  body?: unknown;
  /** When it must have ended, in milliseconds since 1970: the calls of a page share the page's time. */
  until: number;
};

/** A provider's response, if it is 2xx and JSON. */
export type Reply = { json: unknown; headers: Headers };

/**
 * Calls a provider. Redirects are not followed: they would carry the credential elsewhere.
 *
 * @throws Problem, for anything but a 2xx with JSON of at most 2 MiB and 100,000 values within 18 s
 */
export async function call({ url, headers = {}, query = {}, body, until }: Call): Promise<Reply> {
  const target = new URL(url);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.set(name, String(value));
  let response: Response;
  let text: string;
  // Unlike AbortSignal.timeout(), it is gone once the response is there: an invocation may have only so many timers.
  const timer = new AbortController();
  const timeout = setTimeout(
    () => timer.abort(new DOMException('It took too long', 'TimeoutError')),
    Math.max(1, until - Date.now()),
  );
  try {
    response = await fetch(target.href, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        Accept: 'application/json',
        'User-Agent': `FleetDataService/${version}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: 'manual',
      signal: timer.signal,
    });
    const bytes = await readUpTo(maxReplyBytes, response.body);
    if (!bytes) throw new Problem('unexpected', 'returns more than 2 MiB');
    text = new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const late = error instanceof Error && error.name === 'TimeoutError';
    throw new Problem('unavailable', late ? 'does not respond in time' : 'cannot be reached');
  } finally {
    clearTimeout(timeout);
  }
  if (valuesIn(text) > maxValues) throw new Problem('unexpected', 'returns more than 100,000 values');
  if (!response.ok) throw problemOf(response);
  const json = parsedJson(text);
  if (json === undefined) throw new Problem('unexpected', 'returns something other than JSON');
  return { json, headers: response.headers };
}

/** An upper bound: commas in texts count as well. */
function valuesIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x2c || code === 0x5b || code === 0x7b) count++; // , [ {
  }
  return count;
}

const kinds: { [status: number]: ProblemKind } = {
  401: 'refused',
  403: 'not permitted',
  429: 'rate limited',
};

function problemOf({ status, headers }: Response): Problem {
  const kind = kinds[status] ?? (status >= 500 || status === 408 ? 'unavailable' : 'unexpected');
  const wait = parseRetryAfter(headers.get('retry-after'), Date.now());
  return new Problem(kind, `returns ${status}`, wait, status);
}
