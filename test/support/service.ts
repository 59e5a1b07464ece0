import {
  createExecutionContext,
  createScheduledController,
  waitOnExecutionContext,
} from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import worker from '#src/index.ts';

/** Has the service do something, and waits for what it does behind its reply. */
async function whole<T>(work: (context: ExecutionContext) => Promise<T>): Promise<T> {
  const context = createExecutionContext();
  try {
    return await work(context);
  } finally {
    await waitOnExecutionContext(context);
  }
}

export const fetchWith = (bindings: Env, request: Request) =>
  whole(async (context) => worker.fetch(request, bindings, context));

export const minute = (bindings: Env = env, scheduledTime = new Date()) =>
  whole((context) =>
    worker.scheduled(createScheduledController({ scheduledTime }), bindings, context),
  );
