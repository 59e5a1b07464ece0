import { archive } from '../../fleet/archive/job.ts';
import { noteMerged } from '../../fleet/changes/note.ts';
import { archiveKinds } from '../../fleet/lists/registry.ts';
import type { QueueMessage } from '../../index.ts';
import { newBudget } from '../../platform/jobs/budget.ts';
import type { StarterEnv } from '../../webhooks/deliveries/consumer.ts';
import { sweep } from '../../webhooks/deliveries/sweep.ts';
import worker from '../strict/worker.ts';
import { type BareCall, type BareEnv, bare, bareDeliver, bareDeliverSlow } from './worker-bare.ts';
import { metered, type Rows } from './worker-meter.ts';

const writeLine = console.info;

let held = false;

/** Messages sent while `held` that were not dropped yet. Those of late workers reduce it. */
let underWay = 0;

/** What consumers and calls below `/bench/` have used of D1, and the messages they sent, since this was last read. */
const used = { trips: 0, read: 0, written: 0, ms: 0, queued: 0 };
let meteredEnv: Env | undefined;

/**
 * The Worker that benchmarks run: the unchanged service in a runtime as strict as production; below `/bare/` the
 * minimal code for the same jobs; and below `/bench/` commands, and the service with a meter.
 */
export default {
  ...worker,
  async fetch(request: Request, env: BareEnv, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    const [, area, ...rest] = url.pathname.split('/');
    const inside = () => new Request(`${url.origin}/${rest.join('/')}${url.search}`, request);
    if (area === 'bare') return stamped(await bare(request, env, url, ctx));
    if (area === 'ingest') return stamped(await worker.fetch(request, watched(env), ctx));
    if (area === 'unlimited') return worker.fetch(inside(), { ...env, TOKEN_LIMIT: noLimit }, ctx);
    const command = area === 'bench' && commands[rest.join()];
    if (command) return Response.json({ data: await command(env, url.searchParams, request) });
    if (area === 'bench') return worker.fetch(inside(), { ...watched(env), DB: metered(env.DB, used) }, ctx);
    return worker.fetch(request, env, ctx);
  },
  async queue(batch: MessageBatch<never>, env: BareEnv, ctx: ExecutionContext): Promise<void> {
    const ours = batch.queue.startsWith('bare');
    if (held) {
      if (!ours) underWay -= batch.messages.length;
      return;
    }
    const calls = () => (batch as MessageBatch<BareCall>).messages.map(({ body }) => body);
    if (batch.queue === 'bare') return bareDeliver(calls());
    if (ours) return ctx.waitUntil(bareDeliverSlow(calls()));
    meteredEnv ??= { ...counting(env, 'queued'), DB: metered(env.DB, used) };
    return worker.queue(batch as MessageBatch<QueueMessage>, meteredEnv, ctx); // every other queue is the service's
  },
};

type Command = (env: Env, options: URLSearchParams, request: Request) => unknown;

const commands: { [name: string]: Command } = {
  /** Runs the SQL of the body, to fill tables in bulk. */
  sql: async ({ DB }, _, request) => {
    const { sql, params } = await request.json<{ sql: string; params: unknown[] }>();
    return (
      await DB.prepare(sql)
        .bind(...params)
        .run()
    ).meta;
  },
  hold: async (_, options) => {
    while (held && underWay > 0) await scheduler.wait(10);
    held = options.has('on');
  },
  log: (_, options) => {
    console.info = options.has('off') ? () => {} : writeLine;
  },
  used: () => {
    const report = { ...used };
    Object.assign(used, { trips: 0, read: 0, written: 0, ms: 0, queued: 0 });
    return report;
  },
  wake: (env) => sweep(counting(env, 'queued'), Date.now() + 60_000),
  archive: (env, options) => archived(env, Number(options.get('ms'))),
};

/** While wake-ups are dropped, `env` with a queue that counts them, and through which all deliveries pass. */
const watched = (env: Env): StarterEnv => (held ? { ...counting(env, 'under way'), QUEUE_ONLY: true } : env);

function counting(env: Env, as: 'under way' | 'queued'): Env {
  const count = (messages: number) => {
    if (as === 'queued') used.queued += messages;
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

/** Adds when the response was ready: some deliveries are quicker than its way back to the client. */
function stamped(reply: Response): Response {
  const marked = new Response(reply.body, reply);
  marked.headers.set('x-ready-at', String(Date.now()));
  return marked;
}

/** A rate limiter that costs nothing, unlike the local one. */
const noLimit = { limit: async () => ({ success: true }) };

/** Archives for some milliseconds. Returns what that cost, and what the archive has. */
async function archived(env: Env, forMs: number) {
  const cost: Rows = { trips: 0, read: 0, written: 0, ms: 0 };
  const budget = newBudget({ ms: forMs });
  if (forMs > 0)
    await archive({ ...env, DB: metered(env.DB, cost) }, archiveKinds, noteMerged, Date.now(), budget);
  const { results, meta } = await env.DB.prepare(
    `select coalesce(sum(part.value->>'rows'), 0) as rows, coalesce(sum(part.value->>'bytes'), 0) as bytes,
       count(part.value) as files, coalesce(sum(state <> 'done'), 0) as open
     from archived_days left join json_each(parts) part`,
  ).all<{ rows: number; bytes: number; files: number; open: number }>();
  return { cost, archive: results[0], databaseBytes: meta.size_after };
}
