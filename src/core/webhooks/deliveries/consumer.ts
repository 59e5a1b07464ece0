import { fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { continueFanOut } from './continue-fan-out.ts';
import { type DeliveryMessage, sendAfter } from './queue.ts';
import { work } from './send/worker.ts';

/** When work returns after a failure of ours, such as an overloaded D1. */
const retrySeconds = 10;

/** Handles a message. Never throws: a failure is retried, here or by the sweep. */
export async function handle(env: Env, { swept, ...message }: DeliveryMessage): Promise<void> {
  try {
    if ('fanOut' in message) await continueFanOut(env, message);
    else await work(env, message);
  } catch (error) {
    const about = 'webhookId' in message ? { webhookId: message.webhookId } : {};
    fault('error', 'Deliveries were interrupted', about, error);
    if (!swept) await sendAfter(env, message, retrySeconds);
  }
}

/** The context of a request; in production it has the Worker's own entrypoints. */
type StarterContext = Pick<ExecutionContext, 'waitUntil'> & { exports?: unknown };
type Entrypoints = { Deliveries?: { begin(message: DeliveryMessage): Promise<void> } };

/** How many workers a request starts: 32 invocations may follow one. */
const maxStarted = 25;

/**
 * Sends new work to the queue, behind a response. Accidents do not wait for it: the work for their
 * first webhooks starts at once as well, each in an invocation of its own.
 */
export function starter(env: Env, context: StarterContext) {
  const { Deliveries } = (context.exports ?? {}) as Entrypoints; // as `index.ts` exports them
  let remaining = maxStarted;
  const startNow = async (message: DeliveryMessage): Promise<void> => {
    try {
      await Deliveries?.begin(message);
    } catch {
      // its message is in the queue
    }
  };
  return (messages: DeliveryMessage[]): void => {
    const accidents = messages.filter((message) => 'accidents' in message).slice(0, remaining);
    remaining -= accidents.length;
    for (const one of accidents) context.waitUntil(startNow(one));
    context.waitUntil(send(env.DELIVERIES, messages));
  };
}
