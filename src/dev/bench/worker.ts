import { app } from '../../app.ts';
import { archive } from '../../fleet/archive/job.ts';
import { archiveKinds } from '../../fleet/lists/registry.ts';
import worker from '../../index.ts';
import type { StarterEnv } from '../../webhooks/deliveries/consumer.ts';
import type { QueueMessage } from '../../webhooks/deliveries/queue.ts';
import { sweep } from '../../webhooks/deliveries/sweep.ts';
import { type BareCall, type BareEnv, bare, bareDeliver, bareLane } from './worker-bare.ts';
import { farAway } from './worker-distance.ts';
import { metered, type Rows } from './worker-meter.ts';

const writeLine = console.info;

/** While true, wake-ups are dropped, so that deliveries pile up. */
let held = false;

/** Messages that ingest has sent while `held` and that were not dropped yet. Those of late lanes make it less. */
let underWay = 0;

/** What consumers have used of D1, and how many messages they sent, since `/consumed` was last called. */
const consumed = { trips: 0, read: 0, written: 0, ms: 0, queued: 0 };
let meteredEnv: Env | undefined;

/**
 * The Worker that benchmarks run: the unchanged service and, under `/bare/`, the least code that could do the
 * same job on the same bindings. `/count/…` is the service with a report of what D1 did for the request.
 */
export default {
  ...worker,
  async fetch(request: Request, env: BareEnv, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    const reply = await bare(request, env, url, ctx);
    if (reply) return stamped(reply);
    if (url.pathname === '/ingest') return stamped(await app.fetch(request, watched(env), ctx));
    if (url.pathname === '/fill') return fill(request, env);
    if (url.pathname === '/hold') {
      while (held && underWay > 0) await scheduler.wait(10);
      held = url.searchParams.has('on');
      return Response.json({});
    }
    if (url.pathname === '/log') {
      // What a log line costs locally says nothing about Cloudflare's network.
      console.info = url.searchParams.has('off') ? () => {} : writeLine;
      return Response.json({});
    }
    if (url.pathname === '/consumed') {
      const report = Response.json({ data: consumed });
      Object.assign(consumed, { trips: 0, read: 0, written: 0, ms: 0, queued: 0 });
      return report;
    }
    if (url.pathname === '/archive') return archived(env, Number(url.searchParams.get('ms')));
    if (url.pathname === '/wake')
      return Response.json({ data: await sweep(counting(env, 'queued'), Date.now() + 60_000) });
    if (url.pathname.startsWith('/count/')) return counted(request, env, ctx, url);
    if (url.pathname.startsWith('/distance/')) return farAway(request, env, ctx, url);
    if (url.pathname.startsWith('/unlimited/')) return unlimited(request, env, ctx, url);
    return app.fetch(request, env, ctx);
  },
  async queue(batch: MessageBatch<never>, env: BareEnv, ctx: ExecutionContext): Promise<void> {
    if (held) {
      if (batch.queue !== 'bare') underWay -= batch.messages.length;
      return;
    }
    if (batch.queue === 'bare')
      return bareDeliver((batch as MessageBatch<BareCall>).messages.map((m) => m.body));
    if (batch.queue === 'bare-lane')
      return ctx.waitUntil(bareLane((batch as MessageBatch<BareCall>).messages.map((m) => m.body)));
    meteredEnv ??= { ...counting(env, 'queued'), DB: metered(env.DB, consumed) };
    return worker.queue(batch as MessageBatch<QueueMessage>, meteredEnv, ctx); // every other queue is the service's
  },
};

/** While wake-ups are dropped, `env` with a queue that counts them, and through which all deliveries go. */
const watched = (env: Env): StarterEnv => (held ? { ...counting(env, 'under way'), QUEUE_ONLY: true } : env);

/** `env` with a queue that counts what it is sent. */
function counting(env: Env, as: 'under way' | 'queued'): Env {
  const count = (messages: number) => {
    if (as === 'queued') consumed.queued += messages;
    else underWay += messages;
  };
  const DELIVERIES: Env['DELIVERIES'] = {
    metrics: () => env.DELIVERIES.metrics(),
    send: (message, options) => {
      count(1);
      return env.DELIVERIES.send(message, options);
    },
    sendBatch: (messages, options) => {
      const batch = [...messages];
      count(batch.length);
      return env.DELIVERIES.sendBatch(batch, options);
    },
  };
  return { ...env, DELIVERIES };
}

/** Adds when the reply was ready: some deliveries are quicker than its way back to the client. */
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

/** Archives for some milliseconds. Returns what that cost, and what the archive has. */
async function archived(env: Env, forMs: number): Promise<Response> {
  const rows: Rows = { trips: 0, read: 0, written: 0, ms: 0 };
  if (forMs > 0) await archive({ ...env, DB: metered(env.DB, rows) }, archiveKinds, { forMs });
  const { results, meta } = await env.DB.prepare(
    `select coalesce(sum(part.value->>'rows'), 0) as rows, coalesce(sum(part.value->>'bytes'), 0) as bytes,
       count(part.value) as files, coalesce(sum(state <> 'done'), 0) as open
     from archived_days left join json_each(parts) part`,
  ).all<{ rows: number; bytes: number; files: number; open: number }>();
  return Response.json({ data: { cost: rows, archive: results[0], databaseBytes: meta.size_after } });
}

/** The service with a rate limiter that costs nothing, unlike the local simulation of Cloudflare's. */
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

/** Returns the service's reply with a header `x-d1`: what D1 did for it. */
async function counted(request: Request, env: Env, ctx: ExecutionContext, url: URL): Promise<Response> {
  const rows: Rows = { trips: 0, read: 0, written: 0, ms: 0 };
  const path = url.pathname.slice('/count'.length) + url.search;
  const DB = metered(env.DB, rows);
  const reply = await app.fetch(new Request(url.origin + path, request), { ...watched(env), DB }, ctx);
  const counted = new Response(reply.body, reply);
  counted.headers.set('x-d1', JSON.stringify(rows));
  return counted;
}
