import type { QueueMessage } from '../../index.ts';
import { oncePer } from '../../platform/remembered.ts';
import type { StarterEnv } from '../../webhooks/deliveries/consumer.ts';
import { sweep } from '../../webhooks/deliveries/sweep.ts';
import worker from '../strict/worker.ts';
import { type BareCall, type BareEnv, bare, bareDeliver } from './worker-bare.ts';

const writeLine = console.info;

/** Whether wake-ups are dropped, and how many of them are on their way to that. */
let held = false;
let underWay = 0;

/** Whether the limiter and the log are left out, which here are local fakes. */
let isQuiet = false;
const unlimited = oncePer(
  (env: BareEnv): BareEnv => ({ ...env, TOKEN_LIMIT: { limit: async () => ({ success: true }) } }),
);

export { Deliveries } from '../strict/worker.ts';

/** The service; `/bare/` is minimal code, `/bench/` commands. */
export default {
  ...worker,
  async fetch(request: Request, env: BareEnv, ctx: ExecutionContext): Promise<Response> {
    const url = new URL(request.url);
    const [, area = '', name = ''] = url.pathname.split('/');
    if (area === 'bare') return stamped(await bare(request, env, url, ctx));
    if (area === 'ingest') return stamped(await worker.fetch(request, watched(env), ctx));
    if (area === 'bench')
      return Response.json({ data: await commands[name]?.(env, url.searchParams, request) });
    return worker.fetch(request, isQuiet ? unlimited(env) : env, ctx);
  },
  async queue(batch: MessageBatch<never>, env: BareEnv, ctx: ExecutionContext): Promise<void> {
    const isBare = batch.queue.startsWith('bare');
    if (held && !isBare) underWay -= batch.messages.length;
    if (held) return;
    if (!isBare) return worker.queue(batch as MessageBatch<QueueMessage>, env, ctx); // every other is the service's
    const calls = (batch as MessageBatch<BareCall>).messages.map(({ body }) => body);
    if (batch.queue === 'bare') return bareDeliver(calls, 6, Number.POSITIVE_INFINITY);
    return ctx.waitUntil(bareDeliver(calls, 5, 50));
  },
};

type Command = (env: Env, options: URLSearchParams, request: Request) => unknown;

const commands: { [name: string]: Command } = {
  /** Deletes webhooks by the ids in the body, and all that is still due. */
  forget: async ({ DB }, _, request) => {
    const ofIds = 'delete from webhooks where id in (select value from json_each(?1))';
    const due = "delete from deliveries where status = 'pending'";
    await DB.batch([DB.prepare(ofIds).bind(await request.text()), DB.prepare(due)]);
  },
  hold: async (_, options) => {
    while (held && underWay > 0) await scheduler.wait(10);
    held = options.has('on');
  },
  quiet: (_, options) => {
    isQuiet = options.has('on');
    console.info = isQuiet ? () => {} : writeLine;
  },
  sample: ({ DB }) => DB.prepare('select * from safety_events limit 1').first(),
  wake: (env) => sweep(env, Date.now() + 60_000),
};

/** While wake-ups are dropped, a queue counts them, and all deliveries pass through it. */
function watched(env: Env): StarterEnv {
  if (!held) return env;
  const sendBatch: Env['DELIVERIES']['sendBatch'] = (messages) => {
    const batch = [...messages];
    underWay += batch.length;
    return env.DELIVERIES.sendBatch(batch);
  };
  const DELIVERIES = { sendBatch } as Env['DELIVERIES']; // all that an ingest call uses
  return { ...env, DELIVERIES, QUEUE_ONLY: true };
}

/** Adds when the response was ready: some deliveries arrive before the client has it. */
function stamped(reply: Response): Response {
  const marked = new Response(reply.body, reply);
  marked.headers.set('x-ready-at', String(Date.now()));
  return marked;
}
