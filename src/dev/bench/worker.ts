import type { QueueMessage } from '../../index.ts';
import type { StarterEnv } from '../../webhooks/deliveries/consumer.ts';
import { sweep } from '../../webhooks/deliveries/sweep.ts';
import worker from '../strict/worker.ts';
import { type BareCall, type BareEnv, bare, bareDeliver, bareDeliverSlow } from './worker-bare.ts';
import { metered } from './worker-meter.ts';

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
  /** Deletes webhooks by the ids in the body, and all that is still due. */
  forget: async ({ DB }, _, request) => {
    await DB.batch([
      DB.prepare('delete from webhooks where id in (select value from json_each(?1))').bind(
        await request.text(),
      ),
      DB.prepare("delete from deliveries where status = 'pending'"),
    ]);
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
