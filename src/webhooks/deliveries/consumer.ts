import { fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { continueFanOut } from './fan-out.ts';
import { type DeliveryMessage, sendAfter } from './queue.ts';
import { work } from './send/worker.ts';

/** When work returns after a failure of ours, such as an overloaded D1. */
const retrySeconds = 10;

/** Handles a message. Never throws: a failure is retried, and the sweep finds what is lost. */
export async function handle(env: Env, message: DeliveryMessage): Promise<void> {
  try {
    if ('fanOut' in message) await continueFanOut(env, message);
    else await work(env, message);
  } catch (error) {
    fault('error', 'Deliveries were interrupted', {}, error);
    await sendAfter(env, message, retrySeconds);
  }
}

/** The bindings; benchmarks set `QUEUE_ONLY` to hold all deliveries back. */
export type StarterEnv = Env & { QUEUE_ONLY?: true };

/** The context of a request; in production it has the Worker's own entrypoints. */
type StarterContext = Pick<ExecutionContext, 'waitUntil'> & { exports?: unknown };
type Entrypoints = { Deliveries?: { begin(message: DeliveryMessage): Promise<void> } };

/** How many workers a request begins elsewhere: 32 invocations may follow one. */
const maxBegun = 25;

/**
 * Starts work on new deliveries behind a response, accidents first: the first webhook's here, since
 * an invocation has connections for one worker, others in invocations of their own, and the rest by
 * the queue. The sweep finds what fails to start.
 */
export function starter(env: StarterEnv, context: StarterContext) {
  const { Deliveries } = (context.exports ?? {}) as Entrypoints; // as `index.ts` exports them
  let isFree = !env.QUEUE_ONLY;
  let left = isFree && Deliveries ? maxBegun : 0;
  const beginElsewhere = async (message: DeliveryMessage): Promise<void> => {
    try {
      await Deliveries?.begin(message);
    } catch {
      await send(env.DELIVERIES, [message]);
    }
  };
  return (messages: DeliveryMessage[]): void => {
    const here = isFree ? messages[0] : undefined;
    if (here) {
      isFree = false;
      context.waitUntil(handle(env, here));
    }
    const others = messages.filter((one) => one !== here).toSorted((a, b) => urgency(a) - urgency(b));
    const begun = others.splice(0, left);
    left -= begun.length;
    for (const one of begun) context.waitUntil(beginElsewhere(one));
    context.waitUntil(send(env.DELIVERIES, others));
  };
}

const urgency = (message: DeliveryMessage): number => ('accidents' in message ? 0 : 1);
