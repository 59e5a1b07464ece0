import { WorkerEntrypoint } from 'cloudflare:workers';
import type { QueueMessage } from '../../index.ts';
import worker from './worker.ts';

export { Ingest } from '../../index.ts';
export { Deliveries } from './worker.ts';

type Bindings = Env & { ISOLATE_1: Service<Isolate> };

/** One of several isolates of the service. */
export class Isolate extends WorkerEntrypoint<Env> {
  override fetch(request: Request): Promise<Response> {
    return worker.fetch(request, this.env, this.ctx);
  }

  async consume(queue: string, bodies: QueueMessage[]): Promise<void> {
    const batch = { queue, messages: bodies.map((body) => ({ body })) };
    await worker.queue(batch as unknown as MessageBatch<QueueMessage>, this.env, this.ctx); // what is used of one
  }
}

function anyOf(env: Bindings): Service<Isolate> {
  const all = Object.keys(env).filter((name) => /^ISOLATE_\d$/.test(name));
  return env[all[Math.floor(Math.random() * all.length)] as 'ISOLATE_1']; // one of them
}

/** Spreads requests and messages over isolates, so that relying on one's memory shows. */
export default {
  fetch: (request, env) => anyOf(env).fetch(request),
  queue: ({ queue, messages }, env) =>
    anyOf(env).consume(
      queue,
      messages.map(({ body }) => body),
    ),
  scheduled: worker.scheduled,
} satisfies ExportedHandler<Bindings, QueueMessage>;
