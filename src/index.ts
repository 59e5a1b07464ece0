import { app } from './app.ts';
import { deliver } from './deliveries/consumer.ts';
import { logDead } from './deliveries/dead.ts';
import type { DeliveryKey } from './deliveries/queue.ts';
import { sweep } from './deliveries/sweep.ts';
import { hourly } from './hourly.ts';

export { Ingest } from './entrypoint.ts';

export default {
  fetch: app.fetch,

  async queue(batch: MessageBatch<DeliveryKey>, env: Env, ctx: ExecutionContext) {
    const keys = batch.messages.map((message) => message.body);
    if (batch.queue.endsWith('-dead')) return logDead(keys);
    const soon = await deliver(env, keys, (work) => ctx.waitUntil(work));
    const delays = new Map(soon.map(({ key, delaySeconds }) => [key.id, delaySeconds]));
    // What is not retried is acknowledged by returning.
    for (const message of delays.size > 0 ? batch.messages : []) {
      const delaySeconds = delays.get(message.body.id);
      if (delaySeconds !== undefined) message.retry({ delaySeconds });
    }
  },

  async scheduled(controller: ScheduledController, env: Env, _ctx: ExecutionContext) {
    try {
      await sweep(env);
    } finally {
      if (new Date(controller.scheduledTime).getUTCMinutes() === 0) await hourly(env);
    }
  },
} satisfies ExportedHandler<Env, DeliveryKey>;
