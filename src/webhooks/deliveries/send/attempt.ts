import { version } from '../../../../package.json';
import type { PlainField } from '../../fields.ts';
import type { WebhookInput } from '../../schema.ts';
import { signatureHeaders } from '../../signing.ts';
import { callTimeoutMs, kindOf, type Outcome } from '../policy.ts';
import { outcomeOf } from './reasons.ts';

/**
 * A webhook's receiver, ready to be called: its address is checked, its headers are decrypted and complete. Each of the
 * keys signs its calls; `token` authorizes them.
 */
export type CallTarget = Pick<WebhookInput, PlainField> & {
  headers: Record<string, string>;
  keys?: CryptoKey[];
  token?: string;
};

/** One call of a delivery; `attempt` counts from 1, `data` is the payload as JSON. */
export type Call = { id: string; attempt: number; type: number; data: string };

export const maxReadBytes = 4096;
export const maxReadMs = 1000;
export const maxKeptBytes = 1024;

/**
 * The headers of every call, without what is its own: a plain object, because `Headers` are slower to copy for each.
 * `custom` ones can replace only our User-Agent.
 */
export function headersFor(custom: Record<string, string>, isAuthorized = false): Record<string, string> {
  const sent = Object.entries(custom).filter(([name]) => !isAuthorized || !/^authorization$/i.test(name));
  const isNamed = sent.some(([name]) => /^user-agent$/i.test(name));
  return {
    ...(!isNamed && { 'User-Agent': `FleetDataService/${version}` }),
    ...Object.fromEntries(sent),
    'Content-Type': 'application/json',
  };
}

/**
 * Makes one HTTP call of a delivery. The status decides as soon as the headers are in; the body is only read for the
 * log. Never throws: a failure is an outcome.
 */
export async function attempt(
  { url, httpVerb, headers, keys = [], token }: CallTarget,
  call: Call,
  timeoutMs = callTimeoutMs,
): Promise<Outcome> {
  const at = Date.now();
  // `data` is JSON already; parsing and writing it again would cost CPU.
  const body = `{"timestamp":"${new Date(at).toISOString()}","type":${call.type},"data":${call.data}}`;
  const signature = keys.length > 0 ? await signatureHeaders(keys, { id: call.id, at, body }) : {};
  const own = {
    ...{ 'Delivery-Id': call.id, 'Delivery-Attempt': String(call.attempt), ...signature },
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const init = { method: httpVerb, headers: { ...headers, ...own }, body };
  return callOnce(url, init, timeoutMs, (response) => firstKiB(response, token));
}

/**
 * Makes one call without following redirects, which must respond within `timeoutMs`. `textOf` reads the response's body,
 * and must not throw. Never throws.
 */
export async function callOnce(
  url: string,
  init: { method: string; headers: Record<string, string>; body: string },
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

/** The first KiB of the response as text, if it arrives within a second, without the token. Reads at most 4 KiB. */
async function firstKiB(response: Response, token?: string): Promise<string> {
  const text = (await beginningOf(response, maxReadBytes, maxReadMs)).replaceAll('\0', '');
  return cut(token ? without(token, text) : text);
}

/** How much of a token is enough to recognise it. */
const telling = 16;

/** Some receivers return the headers that they got. The text may end within the token, which is then left out. */
function without(token: string, text: string): string {
  const [first = '', ...others] = text.replaceAll(token, '…').split(token.slice(0, telling));
  return others.length > 0 ? `${first}…` : first;
}

/** What arrives of a response's text in so many milliseconds, until that is `maxBytes`; the rest is discarded. */
export async function beginningOf({ body }: Response, maxBytes: number, ms: number): Promise<string> {
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

/** The longest beginning of `text` that takes at most a KiB as JSON, which is how it is stored. */
function cut(text: string): string {
  const encoder = new TextEncoder();
  const bytes = (part: string) => encoder.encode(JSON.stringify(part)).byteLength - 2;
  let kept = text.slice(0, maxKeptBytes);
  while (bytes(kept) > maxKeptBytes)
    kept = kept.slice(0, Math.floor((kept.length * maxKeptBytes) / bytes(kept)));
  return kept.isWellFormed() ? kept : kept.slice(0, -1);
}
