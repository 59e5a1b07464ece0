import { setTimeout as wait } from 'node:timers/promises';
import type { Certificates } from '../local/certificates.ts';
import { listen } from '../local/receiver.ts';

export type Counter = Awaited<ReturnType<typeof startCounter>>;

/** Starts a receiver that responds after `ms`, and counts its calls. */
export async function startCounter(certificates: Certificates, ms: number) {
  const nothing = {
    /** Calls with a response, those in progress, and the most of these at a time. */
    ...{ got: 0, now: 0, most: 0 },
    /** When the first call since the last reset began, and when the last one got its response. */
    ...{ firstAt: undefined as number | undefined, lastAt: 0 },
  };
  const listening = await listen(certificates, 0, (request, response) => {
    counter.firstAt ??= performance.now();
    counter.most = Math.max(counter.most, ++counter.now);
    request.resume().on('end', async () => {
      if (ms > 0) await wait(ms);
      counter.now--;
      response.writeHead(204).end();
      counter.got++;
      counter.lastAt = performance.now();
      counter.seen.add(String(request.headers['delivery-id']));
    });
  });
  const seen = new Set<string>();
  const reset = () => {
    seen.clear();
    Object.assign(counter, nothing);
  };
  const counter = { ...listening, ...nothing, reset, seen };
  return counter;
}

/** Calls a second from `start` to the `count`th response. */
export async function arrivalsPerSecond(
  counter: Counter,
  count: number,
  start: () => Promise<unknown>,
) {
  counter.reset();
  const began = performance.now();
  await start();
  for (const end = Date.now() + 300_000; counter.seen.size < count; await wait(5))
    if (Date.now() > end) throw new Error(`${counter.got} of ${count} deliveries arrived`);
  return count / ((counter.lastAt - began) / 1000);
}

/** A file that the runtime serves without the Worker. */
export const file = '/portal/portal.js';

/** Requests a second of an address, 16 at a time. */
export async function requestsPerSecond(
  url: string,
  headers: Record<string, string>,
  count: number,
) {
  const began = performance.now();
  let remaining = count;
  const client = async () => {
    while (remaining-- > 0) {
      const reply = await fetch(url, { headers });
      await reply.arrayBuffer();
      if (!reply.ok) throw new Error(`${url} returned ${reply.status}`);
    }
  };
  await Promise.all(Array.from({ length: 16 }, client));
  return count / ((performance.now() - began) / 1000);
}
