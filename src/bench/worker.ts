import { app } from '../app.ts';
import type { DeliveryKey } from '../deliveries/queue.ts';
import { sweep } from '../deliveries/sweep.ts';
import worker from '../index.ts';
import { type BareCall, type BareEnv, bare, bareDeliver } from './worker-bare.ts';
import { metered, type Rows } from './worker-meter.ts';

const speak = console.info;

/** While this is so, wake-ups are let go unheard: what waits is to wait. */
let held = false;

/** What consumers have asked of D1 since this was last told. */
const consumed: Rows = { trips: 0, read: 0, written: 0, ms: 0 };
let meteredEnv: Env | undefined;

/**
 * The Worker that benchmarks run: the service as it is, and beside it, under `/bare/`, the least that could do
 * the same job on the same bindings. `/count/…` answers as the service does, and says what D1 read for it.
 */
export default {
  ...worker,
  async fetch(request: Request, env: BareEnv, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    const answer = await bare(request, env, url, ctx);
    if (answer) return stamped(answer);
    if (url.pathname === '/ingest') return stamped(await app.fetch(request, env, ctx));
    if (url.pathname === '/fill') return fill(request, env);
    if (url.pathname === '/hold') {
      held = url.searchParams.has('on');
      return Response.json({});
    }
    if (url.pathname === '/log') {
      // What a line costs locally says nothing of what it costs on Cloudflare's network.
      console.info = url.searchParams.has('off') ? () => {} : speak;
      return Response.json({});
    }
    if (url.pathname === '/consumed') {
      const told = Response.json({ data: consumed });
      Object.assign(consumed, { trips: 0, read: 0, written: 0, ms: 0 });
      return told;
    }
    if (url.pathname === '/wake') return Response.json({ data: await sweep(env) });
    if (url.pathname.startsWith('/count/')) return counted(request, env, ctx, url);
    if (url.pathname.startsWith('/unlimited/')) return unlimited(request, env, ctx, url);
    return app.fetch(request, env, ctx);
  },
  async queue(batch: MessageBatch<never>, env: BareEnv, ctx: ExecutionContext): Promise<void> {
    if (held) return;
    if (batch.queue === 'bare')
      return bareDeliver((batch as MessageBatch<BareCall>).messages.map((m) => m.body));
    meteredEnv ??= { ...env, DB: metered(env.DB, consumed) };
    return worker.queue(batch as MessageBatch<DeliveryKey>, meteredEnv, ctx); // every other queue is the service's
  },
};

/** Says when the reply was ready: the way back to the client takes longer than some deliveries. */
function stamped(reply: Response): Response {
  const marked = new Response(reply.body, reply);
  marked.headers.set('x-ready-at', String(Date.now()));
  return marked;
}

/** Runs the SQL of a body, to fill tables in bulk. */
async function fill(request: Request, env: Env): Promise<Response> {
  const { sql, params = [] } = await request.json<{ sql: string; params?: unknown[] }>();
  const { meta } = await env.DB.prepare(sql)
    .bind(...params)
    .run();
  return Response.json({ data: meta });
}

/** The service with a rate limiter that costs nothing, as the local stand-in for Cloudflare's does not. */
function unlimited(
  request: Request,
  env: Env,
  ctx: ExecutionContext,
  url: URL,
): Response | Promise<Response> {
  const TOKEN_LIMIT = { limit: async () => ({ success: true }) };
  const path = url.pathname.slice('/unlimited'.length) + url.search;
  return app.fetch(new Request(url.origin + path, request), { ...env, TOKEN_LIMIT }, ctx);
}

/** Answers what the service answers, with `x-d1`: what D1 did for it. */
async function counted(request: Request, env: Env, ctx: ExecutionContext, url: URL): Promise<Response> {
  const rows: Rows = { trips: 0, read: 0, written: 0, ms: 0 };
  const path = url.pathname.slice('/count'.length) + url.search;
  const DB = metered(env.DB, rows);
  const reply = await app.fetch(new Request(url.origin + path, request), { ...env, DB }, ctx);
  const counted = new Response(reply.body, reply);
  counted.headers.set('x-d1', JSON.stringify(rows));
  return counted;
}
