import { app } from './app.ts';
import { deliver } from './deliveries/consumer.ts';
import type { DeliveryKey } from './deliveries/queue.ts';
import { sweep } from './deliveries/sweep.ts';

export default {
  fetch: app.fetch,

  async queue(batch, env) {
    const soon = await deliver(
      env,
      batch.messages.map((message) => message.body),
    );
    const delays = new Map(soon.map(({ key, delaySeconds }) => [key.id, delaySeconds]));
    for (const message of batch.messages) {
      const delaySeconds = delays.get(message.body.id);
      if (delaySeconds === undefined) message.ack();
      else message.retry({ delaySeconds });
    }
  },

  async scheduled(_controller: ScheduledController, env: Env, _ctx: ExecutionContext) {
    await sweep(env);
  },
} satisfies ExportedHandler<Env, DeliveryKey>;
