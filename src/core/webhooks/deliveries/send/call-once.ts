import { callTimeoutMs, type Outcome } from '../policy.ts';
import { outcomeOf } from './reasons.ts';

const maxReadBytes = 4096;
const maxReadMs = 1000;
export const maxKeptBytes = 1024;

type Init = { method: string; headers: Record<string, string>; body: string };

/** Makes one call without following redirects. The headers' status decides; a failure is an outcome. */
export async function callOnce(
  url: string,
  init: Init,
  timeoutMs = callTimeoutMs,
  textOf: (response: Response) => Promise<string> = firstKiB,
): Promise<Outcome> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { ...init, redirect: 'manual', signal });
    return outcomeOf(response, await textOf(response), url);
  } catch (error) {
    return { result: kindOf(error) };
  }
}

/** Classifies an exception by its message, which is all that there is. */
function kindOf(error: unknown): 'timeout' | 'dns' | 'tls' | 'connection' {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  const message = error instanceof Error ? error.message : '';
  if (/dns|resolve|getaddrinfo/i.test(message)) return 'dns';
  if (/tls|ssl|certificate/i.test(message)) return 'tls';
  return 'connection';
}

/** The first KiB of the response, if it comes within a second, without the token. */
export async function firstKiB(response: Response, token?: string): Promise<string> {
  const text = (await beginningOf(response, maxReadBytes, maxReadMs)).replaceAll('\0', '');
  return cut(token ? without(token, text) : text);
}

/** The text that arrives within so many ms, until that is `maxBytes`. */
export async function beginningOf(
  { body }: Response,
  maxBytes: number,
  ms: number,
): Promise<string> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const inTime = scheduler.wait(ms).then(() => undefined);
  let text = '';
  for (let size = 0; size < maxBytes; ) {
    const read = await Promise.race([reader.read().catch(() => undefined), inTime]);
    if (!read || read.done) break;
    size += read.value.byteLength;
    text += decoder.decode(read.value, { stream: true });
  }
  // Not awaited, because a receiver may keep sending.
  reader.cancel().catch(() => {});
  return text;
}

/** How much of a token is enough to recognise it. */
const telling = 16;

/** Some receivers return our headers. A token that is cut is left out. */
function without(token: string, text: string): string {
  const [first = '', ...others] = text.replaceAll(token, '…').split(token.slice(0, telling));
  return others.length > 0 ? `${first}…` : first;
}

/** The longest beginning of `text` that takes at most a KiB as JSON, which is how it is stored. */
function cut(text: string): string {
  const encoder = new TextEncoder();
  const bytes = (part: string) => encoder.encode(JSON.stringify(part)).byteLength - 2;
  let kept = text.slice(0, maxKeptBytes);
  while (bytes(kept) > maxKeptBytes)
    kept = kept.slice(0, Math.floor((kept.length * maxKeptBytes) / bytes(kept)));
  return kept.isWellFormed() ? kept : kept.slice(0, -1);
}
