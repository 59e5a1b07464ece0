import { version } from '../../package.json';
import { type Outcome, parseRetryAfter } from './policy.ts';

/** A webhook's receiver, ready to be called: its address has been checked, its headers decrypted and completed. */
export type Receiver = { url: string; httpVerb: string; headers: Record<string, string> };

/** One call of a delivery; `attempt` counts from 1, `data` is the payload as finished JSON. */
export type Call = { id: string; attempt: number; type: number; data: string };

const timeoutMs = 10_000;
const maxReadBytes = 4096;
const maxKeptChars = 1024;

/** The headers of every call to a receiver. `custom` ones can replace ours only for User-Agent (spec 2.4). */
export function headersFor(custom: Record<string, string>): Record<string, string> {
  const named = Object.keys(custom).some((name) => name.toLowerCase() === 'user-agent');
  return {
    ...(!named && { 'User-Agent': `FleetDataService/${version}` }),
    ...custom,
    'Content-Type': 'application/json',
  };
}

/** Makes one HTTP call of a delivery (design 9, spec 2.4). Never throws: a failure is an outcome. */
export async function attempt({ url, httpVerb, headers }: Receiver, call: Call): Promise<Outcome> {
  try {
    const response = await fetch(url, {
      method: httpVerb,
      headers: { ...headers, 'Delivery-Id': call.id, 'Delivery-Attempt': String(call.attempt) },
      // `data` is JSON already: parsing it only to write it again would cost a batch's CPU.
      body: `{"timestamp":"${new Date().toISOString()}","type":${call.type},"data":${call.data}}`,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return await outcomeOf(response);
  } catch (error) {
    return { result: kindOf(error) };
  }
}

async function outcomeOf(response: Response): Promise<Outcome> {
  const { status } = response;
  const answer = await firstKiB(response);
  if (status >= 200 && status < 300) return { result: 'success', status, answer };
  if (status >= 300 && status < 400) return { result: 'redirect', status, answer };
  // How Cloudflare's network reports a receiver that it could not reach at all.
  if (status === 525 || status === 526) return { result: 'tls', status };
  if (status === 530) return { result: 'dns', status };
  return {
    result: 'status',
    status,
    answer,
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), Date.now()),
  };
}

/** The first KiB of the reply as text. Reads at most 4 KiB and discards the rest. */
async function firstKiB(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size < maxReadBytes) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.byteLength;
  }
  // Not awaited: a receiver that keeps sending must not hold up the attempt.
  reader.cancel().catch(() => {});
  const decoder = new TextDecoder();
  const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('');
  return text.slice(0, maxKeptChars).replaceAll('\0', '');
}

/** Classifies an exception by its message, which is all that the runtime gives; by default, it is the connection. */
function kindOf(error: unknown): 'timeout' | 'dns' | 'tls' | 'connection' {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  const message = error instanceof Error ? error.message : '';
  if (/dns|resolve|getaddrinfo/i.test(message)) return 'dns';
  if (/tls|ssl|certificate/i.test(message)) return 'tls';
  return 'connection';
}
