import { WorkerEntrypoint } from 'cloudflare:workers';
import { app } from './app.ts';
import { ingestBinding } from './core/ingest/binding.ts';
import { config } from './core/platform/config.ts';
import { everyMinute, type JobMessage, runJob } from './core/platform/jobs/jobs.ts';
import { handle } from './core/webhooks/deliveries/consumer.ts';
import { leaseMs } from './core/webhooks/deliveries/policy.ts';
import type { DeliveryMessage } from './core/webhooks/deliveries/queue.ts';
import { declared } from './extras.ts';
import { type ProbeMessage, recordProbe } from './operator/health/check.ts';
import { jobs, starters } from './operator/jobs.ts';

export type { IngestBatch, IngestReply } from './core/ingest/binding.ts';

export type CoreMessage = DeliveryMessage | JobMessage | ProbeMessage;
/** A message of an extra has a property of its own. */
type ExtraMessage = { [property: string]: unknown };
export type QueueMessage = CoreMessage | ExtraMessage;

export default {
  fetch: app.fetch,

  async queue(batch: MessageBatch<QueueMessage>, env: Env, ctx: ExecutionContext) {
    const work = batch.messages.map(({ body }) => receive(env, body));
    // In the background, so that the next message need not wait for slow receivers.
    if (config(env).awaitDeliveries) await Promise.all(work);
    else for (const one of work) ctx.waitUntil(one);
  },

  async scheduled(controller: ScheduledController, env: Env, _ctx: ExecutionContext) {
    await everyMinute(env, new Date(controller.scheduledTime), starters, jobs, leaseMs);
  },
} satisfies ExportedHandler<Env, QueueMessage>;

function receive(env: Env, message: QueueMessage): Promise<void> {
  for (const handlers of declared('messages'))
    for (const [property, handler] of Object.entries(handlers))
      if (property in message) return handler(env, (message as ExtraMessage)[property] as never); // it sent it
  return receiveOfCore(env, message as CoreMessage);
}

function receiveOfCore(env: Env, message: CoreMessage): Promise<void> {
  if ('job' in message) return runJob(env, jobs, message.job);
  return 'check' in message ? recordProbe(env, message) : handle(env, message);
}

/** The service binding `Ingest` for connectors that are Workers of the same account. */
export class Ingest extends ingestBinding(app.fetch) {}

/** Where a request begins workers, each in an invocation of its own, which lasts longer than the request. */
export class Deliveries extends WorkerEntrypoint<Env> {
  begin(message: DeliveryMessage): void {
    this.ctx.waitUntil(handle(this.env, message));
  }
}
