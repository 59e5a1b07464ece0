import { attemptLog, described, fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { cancelPending } from './cancel.ts';
import { continueFanOut } from './fan-out.ts';
import { callTimeoutMs } from './policy.ts';
import type { DeliveryMessage, Wake } from './queue.ts';
import { wakeForRetry } from './receiver/timers.ts';
import type { FirstClaim, NewWork } from './send/first-claim.ts';
import { inWorkersTurn, workersWait } from './send/turns.ts';
import { runWorker, type WorkerBudget } from './send/worker.ts';

/**
 * A call may start as long as its 15 s, and two more to record it, fit into the 30 s that Workers allows background
 * work.
 */
const callsForMs = 30_000 - callTimeoutMs - 2_000;

/** How long an invocation claims: its last claim needs a few seconds to start. */
const budgetMs = callsForMs - 4_000;

/**
 * The most transactions of an invocation: each has seven of D1's 1,000 queries, and comes with up to 40 of its 10,000
 * calls.
 */
const maxTransactions = 140;

/** How long a worker works for one webhook while others of its account wait. */
const contendedMs = 2_000;

/** When work returns that waited too long, and work after a failure of ours, such as an overloaded D1. */
const waitAgainSeconds = 1;
const retrySeconds = 10;

/**
 * Handles one message: works for a webhook, or continues the fan-out of a large call. Never throws: a failure is logged
 * and retried after ten seconds; the sweep finds what is lost.
 */
export async function handle(env: Env, { claim, ...message }: NewWork): Promise<void> {
  const now = Date.now();
  const attempts = attemptLog();
  const budget: Budget = {
    until: now + budgetMs,
    callsUntil: now + callsForMs,
    transactionsLeft: maxTransactions,
    log: attempts.log,
  };
  if ('fanOut' in message)
    return orLater(env, message, async () => {
      const done = await continueFanOut(env, message.fanOut, () => Date.now() < budget.until);
      if (!done) await send(env.DELIVERIES, [message]);
    });
  // A worker that ends because others wait gets in line again.
  let first = claim;
  for (let again = true; again; first = undefined) {
    const ran = await inWorkersTurn(
      message,
      () => orLater(env, message, () => work(env, message, budget, first)),
      budget.until,
    );
    if (!ran) await sendAfter(env, message, waitAgainSeconds);
    again = ran?.result === 'again';
  }
  attempts.end();
}

/** The bindings; benchmarks set `QUEUE_ONLY` to hold all deliveries back. */
export type StarterEnv = Env & { QUEUE_ONLY?: true };

/**
 * Returns a function that starts work on new deliveries after a request's response. The first webhook's starts in the
 * request's own background, without the queue; an invocation has connections for one worker only, so the rest is
 * queued. A failure to start is no failure of the request: the sweep finds the rows.
 */
export function starter(env: StarterEnv, context: Pick<ExecutionContext, 'waitUntil'>) {
  let isFree = !env.QUEUE_ONLY;
  const start = (messages: NewWork[]): void => {
    const here = isFree ? (messages.find(({ claim }) => claim) ?? messages[0]) : undefined;
    if (here) {
      isFree = false;
      context.waitUntil(handle(env, here));
    }
    context.waitUntil(
      send(
        env.DELIVERIES,
        messages.filter((one) => one !== here),
      ),
    );
  };
  return Object.assign(start, { mayBegin: isFree });
}

/** What is left of an invocation. */
type Budget = Omit<WorkerBudget, 'inTime'> & { until: number; transactionsLeft: number };

async function orLater<T>(
  env: Env,
  message: DeliveryMessage,
  task: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await task();
  } catch (error) {
    fault('error', { message: 'Deliveries were interrupted', ...described(error) });
    await sendAfter(env, message, retrySeconds);
    return undefined;
  }
}

/** Sends a delayed message. Best effort: the sweep wakes what the queue refuses. */
const sendAfter = async (env: Env, message: DeliveryMessage, delaySeconds: number): Promise<void> =>
  void (await env.DELIVERIES.send(message, { delaySeconds }).catch(() => {}));

/** Runs a worker and what must follow it. Returns 'again' if it made room for others, with time left. */
async function work(env: Env, wake: Wake, budget: Budget, claim?: FirstClaim): Promise<'again' | 'done'> {
  const contendedUntil = Date.now() + contendedMs;
  const isLeft = () => budget.transactionsLeft > 0 && Date.now() < budget.until;
  const inTime = () => {
    budget.transactionsLeft--;
    return isLeft() && (Date.now() < contendedUntil || !workersWait(wake));
  };
  const end = await runWorker(env, wake, { ...budget, inTime }, claim);
  if (end.reason === 'webhook gone') await cancelPending(env, [wake.webhookId]);
  else if (end.reason === 'idle') await wakeForRetry(env, wake, end);
  else if (isLeft()) return 'again';
  else await send(env.DELIVERIES, [wake]);
  return 'done';
}
