import { WorkerEntrypoint } from 'cloudflare:workers';
import type * as v from 'valibot';
import { app } from './app.ts';
import { archive } from './fleet/archive/job.ts';
import { archiveKinds } from './fleet/lists/registry.ts';
import { countEvents } from './fleet/trends/job.ts';
import { continueMoves } from './homes/moves/run.ts';
import type { IngestRecord, Outcome } from './ingest/schema.ts';
import { continueDeletions } from './operator/deletion/run.ts';
import { hourly } from './operator/hourly.ts';
import type { FieldError } from './platform/errors.ts';
import { inEachHome } from './platform/homes/each.ts';
import { homesOf, mainHome } from './platform/homes/homes.ts';
import { fault } from './platform/log.ts';
import { tellHealth } from './providers/health-alerts.ts';
import { pull, startPulls } from './providers/pull.ts';
import { sendAlerts } from './webhooks/alerts/send.ts';
import { handle } from './webhooks/deliveries/consumer.ts';
import type { QueueMessage } from './webhooks/deliveries/queue.ts';
import { sweep } from './webhooks/deliveries/sweep.ts';

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

/** What a connector sends in, as `POST /ingest` takes it. */
export type IngestBatch = { records: v.InferInput<typeof IngestRecord>[]; notify?: boolean };

/** What `POST /ingest` answers: the envelope of success, or that of a failure. */
export type IngestReply =
  | { status: 200; message: string; data: Outcome }
  | {
      status: 400 | 401 | 403 | 413 | 429 | 500 | 503;
      message: string;
      requestId: string;
      errors?: FieldError[];
      /** Seconds. */
      retryAfter?: number;
    };

/**
 * What connectors that are Workers of the same Cloudflare account bind to, as a service binding with
 * `entrypoint = "Ingest"`.
 */
export class Ingest extends WorkerEntrypoint<Env> {
  /**
   * Takes in up to 500 records under an ingest key. It is the route itself that answers, so that
   * whatever holds for one holds for the other. Never throws for a refusal: that is a reply.
   */
  async records(ingestKey: string, batch: IngestBatch): Promise<IngestReply> {
    const request = new Request('https://ingest.internal/ingest', {
      method: 'POST',
      headers: { 'x-api-key': asHeader(ingestKey), 'content-type': 'application/json' },
      body: JSON.stringify(batch) ?? '',
    });
    const reply = await app.fetch(request, this.env, this.ctx);
    return reply.json();
  }
}

/** What no header can hold is no ingest key either. */
const asHeader = (key: unknown): string => (/^[!-~]+$/.test(String(key)) ? String(key) : '');
