import { version } from '../../../package.json';
import { isAllowed } from './add.ts';

/* Reads files from the servers that have them. */

/** What is held in memory of a file: 5 MiB is the smallest part that R2 takes, but for the last. */
export const partBytes = 5 * 1024 * 1024;

const maxRedirects = 3;

/** The fault is the server's that has the file, not ours. */
export class Unreachable extends Error {}

/** A link leads to where we call nobody. */
export class Forbidden extends Error {}

const reaching = <T>(work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw new Unreachable('', { cause });
  });

/** Calls the server of a file, and follows redirects to allowed addresses. @throws Forbidden */
export async function get(
  env: Env,
  source: string,
  signal: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  const headers = {
    'User-Agent': `FleetDataService/${version}`,
    'Accept-Encoding': 'identity',
    ...more,
  };
  let url = source;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    if (!isAllowed(env, url)) throw new Forbidden('Its address is not allowed');
    const response = await reaching(fetch(url, { headers, redirect: 'manual', signal }));
    const next =
      response.status >= 300 && response.status < 400 && response.headers.get('location');
    if (!next) return response;
    await response.body?.cancel();
    url = URL.parse(next, url)?.href ?? '';
  }
  throw new Forbidden('The link redirects too often');
}

/** Cuts a stream into parts, of which the next overwrites the one before. */
export async function* partsOf(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<Uint8Array> {
  if (!body) return;
  const part = new Uint8Array(partBytes);
  const reader = body.getReader();
  let filled = 0;
  try {
    for (;;) {
      const { value: chunk } = await reaching(reader.read());
      if (!chunk) break;
      for (let from = 0; from < chunk.byteLength; ) {
        const some = chunk.subarray(from, from + partBytes - filled);
        part.set(some, filled);
        [from, filled] = [from + some.byteLength, filled + some.byteLength];
        if (filled < partBytes) continue;
        yield part;
        filled = 0;
      }
    }
    if (filled > 0) yield part.subarray(0, filled);
  } finally {
    await reader.cancel().catch(() => {});
  }
}
