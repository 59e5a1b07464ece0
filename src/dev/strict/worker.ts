import worker, { type QueueMessage } from '../../index.ts';
import { strict } from './bindings.ts';
import { hang } from './hangs.ts';
import { invoked } from './limits.ts';

export { Ingest } from '../../index.ts';

/**
 * The unchanged service in a runtime as strict as production, for local runs and tests. Exceeding a limit fails the
 * call and logs an error.
 */
export default {
  fetch: async (request: Request, env, ctx) =>
    hang(new URL(request.url)) ?? invoked(async () => worker.fetch(request, strict(env), ctx)),
  queue: (batch, env, ctx) => invoked(() => worker.queue(batch, strict(env), ctx)),
  scheduled: (controller, env, ctx) => invoked(() => worker.scheduled(controller, strict(env), ctx)),
} satisfies ExportedHandler<Env, QueueMessage>;
