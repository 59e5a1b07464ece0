import { version } from '../../../../package.json';
import { parsedJson } from '../../../core/platform/json.ts';
import { parseRetryAfter } from '../../../core/platform/retry-after.ts';
import { type Access, ProviderError, type ProviderErrorKind, TooLarge } from './connector.ts';
import { Picker } from './pick.ts';

/** The time for a page with all its calls: background work ends after 30 s. */
export const pageMs = 18_000;

/** Most of a reply may be what we do not need: it takes time, but no memory. */
export const maxReplyBytes = 32 * 1024 * 1024;

export type Call = {
  url: string;
  headers?: Record<string, string>;
  /** Undefined parameters are left out. */
  query?: { [name: string]: string | number | boolean | undefined };
  /** Sent as JSON, by POST. */
  body?: unknown;
};

/** What a call needs of a connection: what is wanted of its replies, and by when it must have ended. */
type CallLimits = Pick<Access, 'wanted' | 'until' | 'tooLarge'>;

/** A provider's response, if it is 2xx and JSON. */
export type Reply = { json: unknown; headers: Headers };

/**
 * Calls a provider, and reads what is wanted of its reply. Redirects would carry the credential elsewhere.
 * @throws Problem, for anything but a 2xx with JSON of at most 32 MiB, of which 2 MiB are wanted, within 18 s
 */
export async function call(
  { wanted, until, tooLarge }: CallLimits,
  { url, headers = {}, query = {}, body }: Call,
): Promise<Reply> {
  const target = new URL(url);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) target.searchParams.set(name, String(value));
  const picker = new Picker(wanted);
  let response: Response;
  // Unlike AbortSignal.timeout(), it is gone once the response is there.
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
    if (response.ok) await readInto(picker, response);
    else await response.body?.cancel();
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    const late = error instanceof Error && error.name === 'TimeoutError';
    throw new ProviderError('unavailable', late ? 'does not respond in time' : 'cannot be reached');
  } finally {
    clearTimeout(timeout);
  }
  if (!response.ok) throw errorOf(response);
  const text = picker.end();
  if (text === undefined)
    throw new ProviderError('unexpected', 'returns more than 2 MiB of what we need');
  const json = parsedJson(text);
  // A page of something in between, or a reply that was cut off: the provider has not replied to this.
  if (json === undefined)
    throw new ProviderError('unavailable', 'returns something other than JSON');
  tooLarge.push(...picker.tooLarge);
  return { json, headers: response.headers };
}

/** Reads a page of at most `size` items, or of half as many if it is too large, down to one. @throws Problem */
export async function inSize<T>(size: number, read: (size: number) => Promise<T>): Promise<T> {
  try {
    return await read(size);
  } catch (error) {
    if (size === 1 || !(error instanceof TooLarge)) throw error;
    return inSize(Math.floor(size / 2), read);
  }
}

async function readInto(picker: Picker, { body }: Response): Promise<void> {
  const decoder = new TextDecoder();
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxReplyBytes) throw new TooLarge();
    picker.write(decoder.decode(chunk, { stream: true }));
  }
}

const kinds: { [status: number]: ProviderErrorKind } = {
  401: 'refused',
  403: 'not permitted',
  429: 'rate limited',
};

function errorOf({ status, headers }: Response): ProviderError {
  const kind = kinds[status] ?? (status >= 500 || status === 408 ? 'unavailable' : 'unexpected');
  const wait = parseRetryAfter(headers.get('retry-after'), Date.now());
  return new ProviderError(kind, `returns ${status}`, wait, status);
}
