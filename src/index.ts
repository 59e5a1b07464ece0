import { sendAlerts } from './alerts/send.ts';
import { app } from './app.ts';
import { archive } from './archive/job.ts';
import { continueDeletions } from './deletion/run.ts';
import { handle } from './deliveries/consumer.ts';
import type { QueueMessage } from './deliveries/queue.ts';
import { sweep } from './deliveries/sweep.ts';
import { archiveKinds } from './fleet/registry.ts';
import { hourly } from './hourly.ts';
import { pull, startPulls } from './providers/pull.ts';
import { tellHealth } from './providers/tell.ts';
import { countEvents } from './trends/job.ts';

export { Ingest } from './entrypoint.ts';

export default {
  fetch: app.fetch,

  async queue(batch: MessageBatch<QueueMessage>, env: Env, ctx: ExecutionContext) {
    // In the background, so that the next message need not wait for slow receivers.
    for (const { body } of batch.messages)
      ctx.waitUntil('pull' in body ? pull(env, body.pull) : handle(env, body));
  },

  async scheduled(controller: ScheduledController, env: Env, _ctx: ExecutionContext) {
    try {
      await sweep(env);
    } finally {
      await startPulls(env);
      if (new Date(controller.scheduledTime).getUTCMinutes() === 0) await hourly(env);
      await continueDeletions(env);
      await countEvents(env);
      await tellHealth(env);
      await sendAlerts(env); // after what is urgent, so that slow mail holds nothing up
      await archive(env, archiveKinds);
    }
  },
} satisfies ExportedHandler<Env, QueueMessage>;
