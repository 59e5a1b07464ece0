import { send } from '../../core/platform/queue.ts';
import type { QueueMessage } from '../../index.ts';
import worker from '../strict/worker.ts';

/** A queue message of the bare consumer has a whole call in it, so that nothing has to be read. */
type BareCall = { url: string; body: string };
type BareCalls = { urls: string[]; body: string; count: number };
type BenchEnv = Env & { BARE: Queue<BareCall> };

export { Deliveries } from '../strict/worker.ts';

/** The service, and under `/bare/` the least code that makes the same calls, for comparison. */
export default {
  ...worker,
  async fetch(request: Request, env: BenchEnv, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (!/^\/(bare|ingest)\b/.test(pathname)) return worker.fetch(request, env, ctx);
    const reply =
      pathname === '/ingest'
        ? await worker.fetch(request, env, ctx)
        : await bare(request, env, ctx);
    const stamped = new Response(reply.body, reply);
    // Some deliveries arrive before the client has the reply.
    stamped.headers.set('x-ready-at', String(Date.now()));
    return stamped;
  },
  queue(batch: MessageBatch<never>, env: Env, ctx: ExecutionContext): void | Promise<void> {
    if (batch.queue !== 'bare') return worker.queue(batch as MessageBatch<QueueMessage>, env, ctx); // the service's
    ctx.waitUntil(
      Promise.all((batch as MessageBatch<BareCall>).messages.map(({ body }) => deliver(body))),
    );
  },
};

/** Sends calls to the queue, behind the reply as the service does. */
async function bare(request: Request, env: BenchEnv, ctx: ExecutionContext): Promise<Response> {
  const { urls, body, count } = await request.json<BareCalls>();
  const calls = Array.from({ length: count }, (_, i) => ({
    url: urls[i % urls.length] ?? '',
    body,
  }));
  ctx.waitUntil(send(env.BARE, calls));
  return Response.json({ status: 200 });
}

/** As many calls to a receiver in an isolate as the service makes. */
const mostInFlight = 50;
const inFlight = new Map<string, number>();

/** Makes a call with headers like the service's, which are as much to read. */
async function deliver({ url, body }: BareCall): Promise<void> {
  while ((inFlight.get(url) ?? 0) >= mostInFlight) await scheduler.wait(10);
  inFlight.set(url, (inFlight.get(url) ?? 0) + 1);
  const headers = {
    'User-Agent': 'FleetDataService/bare',
    'X-Secret': 's3cret',
    'Content-Type': 'application/json',
    'Delivery-Id': crypto.randomUUID(),
    'Delivery-Attempt': '1',
  };
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  await response.text();
  inFlight.set(url, (inFlight.get(url) ?? 1) - 1);
}
