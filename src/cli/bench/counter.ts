import { setTimeout as wait } from 'node:timers/promises';
import type { Certificates } from '../local/certificates.ts';
import { listen } from '../local/receiver.ts';

export type Counter = Awaited<ReturnType<typeof startCounter>>;

/** Starts a slow receiver that counts its calls. */
export async function startCounter(certificates: Certificates, ms: number) {
  const inFlight = new Map<string, number>();
  const nothing = {
    /** Calls with a response, and the most in parallel at a path. */
    ...{ got: 0, most: 0 },
    /** When the first call since the last reset began, and when the last one got its response. */
    ...{ firstAt: undefined as number | undefined, lastAt: 0 },
  };
  const reset = () => {
    counter.seen.clear();
    Object.assign(counter, nothing);
  };
  const listening = await listen(certificates, 0, (request, response) => {
    counter.firstAt ??= performance.now();
    const { url: path = '', headers } = request;
    const now = (inFlight.get(path) ?? 0) + 1;
    inFlight.set(path, now);
    counter.most = Math.max(counter.most, now);
    request.resume().on('end', async () => {
      if (ms > 0) await wait(ms);
      inFlight.set(path, (inFlight.get(path) ?? 1) - 1);
      response.writeHead(204).end();
      counter.got++;
      counter.lastAt = performance.now();
      counter.seen.add(String(headers['delivery-id']));
    });
  });
  /** With each `Delivery-Id` that has been seen. */
  const counter = { ...listening, ...nothing, reset, seen: new Set<string>() };
  return counter;
}

/** Calls a second from `start` to the `count`th response; those during `prepare` count too. */
export async function arrivalsPerSecond(
  counter: Counter,
  count: number,
  start: () => Promise<unknown>,
  prepare: () => Promise<unknown> = async () => {},
): Promise<number> {
  counter.reset();
  await prepare();
  const began = performance.now();
  await start();
  for (const end = Date.now() + 300_000; counter.seen.size < count; await wait(5))
    if (Date.now() > end) throw new Error(`${counter.got} of ${count} deliveries arrived`);
  return count / ((counter.lastAt - began) / 1000);
}
