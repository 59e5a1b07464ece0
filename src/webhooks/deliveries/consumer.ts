import { described, fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { continueFanOut } from './fan-out.ts';
import { type DeliveryMessage, sendAfter } from './queue.ts';
import type { NewWork } from './send/first-claim.ts';
import { work } from './send/worker.ts';

/** When work returns after a failure of ours, such as an overloaded D1. */
const retrySeconds = 10;

/** Handles a message. Never throws: a failure is retried, and the sweep finds what is lost. */
export async function handle(env: Env, { claim, ...message }: NewWork): Promise<void> {
  try {
    if ('fanOut' in message) await continueFanOut(env, message);
    else await work(env, message, claim);
  } catch (error) {
    fault('error', { message: 'Deliveries were interrupted', ...described(error) });
    await sendAfter(env, message, retrySeconds);
  }
}

/** The bindings; benchmarks set `QUEUE_ONLY` to hold all deliveries back. */
export type StarterEnv = Env & { QUEUE_ONLY?: true };

/**
 * Starts work on new deliveries behind a response: the first webhook's at once, since an invocation
 * has connections for one worker, the rest by the queue. The sweep finds what fails to start.
 */
export function starter(env: StarterEnv, context: Pick<ExecutionContext, 'waitUntil'>) {
  let isFree = !env.QUEUE_ONLY;
  const start = (messages: NewWork[]): void => {
    const here = isFree ? (messages.find(({ claim }) => claim) ?? messages[0]) : undefined;
    if (here) {
      isFree = false;
      context.waitUntil(handle(env, here));
    }
    const others: DeliveryMessage[] = messages.filter((one) => one !== here);
    context.waitUntil(send(env.DELIVERIES, others));
  };
  return Object.assign(start, { mayBegin: isFree });
}
