import { WorkerEntrypoint } from 'cloudflare:workers';
import { handle } from '../../core/webhooks/deliveries/consumer.ts';
import type { DeliveryMessage } from '../../core/webhooks/deliveries/queue.ts';
import worker, { type QueueMessage } from '../../index.ts';
import { strict } from './bindings.ts';
import { hang } from './hangs.ts';
import { invoked, queriesSoFar } from './limits.ts';

export { Ingest } from '../../index.ts';

/** What the service exports, as strict. */
export class Deliveries extends WorkerEntrypoint<Env> {
  begin(message: DeliveryMessage): Promise<void> {
    return invoked(async () => this.ctx.waitUntil(handle(strict(this.env), message)));
  }
}

/** The unchanged service in a runtime as strict as production: what exceeds a limit fails. */
const strictWorker = {
  fetch: async (request: Request, env, ctx) =>
    (await obey(new URL(request.url), env, ctx)) ??
    invoked(async () => worker.fetch(request, strict(env), ctx)),
  queue: (batch, env, ctx) => invoked(() => worker.queue(batch, strict(env), ctx)),
  scheduled: (controller, env, ctx) =>
    invoked(() => worker.scheduled(controller, strict(env), ctx)),
} satisfies ExportedHandler<Env, QueueMessage>;
export default strictWorker;

/** Makes a store hang: `/strict/hang/D1/80`; runs the cron job as at a time: `/strict/minute/0`. */
async function obey(
  { pathname }: URL,
  env: Env,
  ctx: ExecutionContext,
): Promise<Response | undefined> {
  const [, place, what, first = '', second] = pathname.split('/');
  if (place !== 'strict') return undefined;
  if (what === 'hang') hang(first, Number(second));
  const controller = { scheduledTime: Number(first), cron: '* * * * *', noRetry() {} };
  if (what === 'minute') await strictWorker.scheduled(controller, env, ctx);
  return Response.json({ queries: queriesSoFar() });
}
