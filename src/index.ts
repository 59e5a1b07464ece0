import { sendAlerts } from './alerts/send.ts';
import { app } from './app.ts';
import { archive } from './archive/job.ts';
import { continueDeletions } from './deletion/run.ts';
import { handle } from './deliveries/consumer.ts';
import type { QueueMessage } from './deliveries/queue.ts';
import { sweep } from './deliveries/sweep.ts';
import { archiveKinds } from './fleet/registry.ts';
import { inEachHome } from './homes/each.ts';
import { homesOf, mainHome } from './homes/homes.ts';
import { hourly } from './hourly.ts';
import { fault } from './log.ts';
import { continueMoves } from './moves/run.ts';
import { pull, startPulls } from './providers/pull.ts';
import { tellHealth } from './providers/tell.ts';
import { countEvents } from './trends/job.ts';

export { Ingest } from './entrypoint.ts';

export default {
  fetch: app.fetch,

  async queue(batch: MessageBatch<QueueMessage>, env: Env, ctx: ExecutionContext) {
    // In the background, so that the next message need not wait for slow receivers.
    for (const { body } of batch.messages) {
      const { home: name = mainHome, ...message } = body; // what is sent on may go to another home
      const home = homesOf(env).get(name);
      if (!home) fault('error', { message: 'A message is for a home that is not there' });
      else ctx.waitUntil('pull' in message ? pull(home, message.pull) : handle(home, message));
    }
  },

  async scheduled(controller: ScheduledController, env: Env, _ctx: ExecutionContext) {
    await inEachHome(env, (home) => minute(home, new Date(controller.scheduledTime)));
  },
} satisfies ExportedHandler<Env, QueueMessage>;

/** What is done in a home each minute. */
async function minute(env: Env, time: Date): Promise<void> {
  try {
    await sweep(env);
  } finally {
    await continueMoves(env); // first of all what an interrupted one refuses
    await startPulls(env);
    if (time.getUTCMinutes() === 0) await hourly(env);
    await continueDeletions(env);
    await countEvents(env);
    await tellHealth(env);
    await sendAlerts(env); // after what is urgent, so that slow mail holds nothing up
    await archive(env, archiveKinds);
  }
}
