import { version } from '../../package.json';
import { type ReceiverPolicy, receiverProblem } from '../webhooks/receiver.ts';
import { type Outcome, parseRetryAfter } from './policy.ts';

/** What to send: the webhook as it is now, and the notification. */
export type Call = {
  id: string;
  url: string;
  httpVerb: string;
  headers: Record<string, string>;
  /** Which attempt this is, from 1. */
  attempt: number;
  type: number;
  /** The payload as finished JSON. */
  data: string;
};

const timeoutMs = 10_000;
const mostRead = 4096;
const mostKept = 1024;

/** Makes one HTTP call of a delivery (design 9, spec 2.4). It never throws: a failure is an outcome. */
export async function attempt(call: Call, policy: ReceiverPolicy): Promise<Outcome> {
  if (receiverProblem(call.url, policy)) return { result: 'blocked address' };
  const headers = new Headers(call.headers);
  headers.set('Content-Type', 'application/json');
  if (!headers.has('User-Agent')) headers.set('User-Agent', `FleetDataService/${version}`);
  headers.set('Delivery-Id', call.id);
  headers.set('Delivery-Attempt', String(call.attempt));
  // `data` is JSON already: parsing it only to write it again would cost a batch's CPU.
  const body = `{"timestamp":"${new Date().toISOString()}","type":${call.type},"data":${call.data}}`;
  try {
    const response = await fetch(call.url, {
      method: call.httpVerb,
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return await judge(response);
  } catch (error) {
    return { result: kindOf(error) };
  }
}

async function judge(response: Response): Promise<Outcome> {
  const { status } = response;
  const answer = await firstKiB(response);
  if (status >= 200 && status < 300) return { result: 'success', status, answer };
  if (status >= 300 && status < 400) return { result: 'redirect', status, answer };
  // How Cloudflare's network tells of a receiver it could not reach at all.
  if (status === 525 || status === 526) return { result: 'tls', status };
  if (status === 530) return { result: 'dns', status };
  return {
    result: 'status',
    status,
    answer,
    retryAfter: parseRetryAfter(response.headers.get('retry-after'), Date.now()),
  };
}

/** Reads at most 4 KiB of the reply, and lets the rest go. */
async function firstKiB(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  while (reader && size < mostRead) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.byteLength;
  }
  // Not awaited: a receiver that keeps sending must not hold the attempt.
  reader?.cancel().catch(() => {});
  const decoder = new TextDecoder();
  const text = chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join('');
  return text.slice(0, mostKept).replaceAll('\0', '');
}

/** Sorts an exception by its words: all that the runtime gives, and where it gives none it is the connection. */
function kindOf(error: unknown): 'timeout' | 'dns' | 'tls' | 'connection' {
  if (error instanceof Error && error.name === 'TimeoutError') return 'timeout';
  const words = error instanceof Error ? error.message : '';
  if (/dns|resolve|getaddrinfo/i.test(words)) return 'dns';
  if (/tls|ssl|certificate/i.test(words)) return 'tls';
  return 'connection';
}
