import { homeOfMoved } from '../../platform/db/moved.ts';
import { fairQueue, othersAreActive } from '../../platform/fair-queue.ts';
import { hasHomes, homesOf } from '../../platform/homes/homes.ts';
import { described, fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { cancelDeleted } from './cancel.ts';
import { continueFanOut } from './fan-out.ts';
import { circuitAfter } from './policy.ts';
import type { DeliveryMessage, Wake } from './queue.ts';
import { nextDueAt, wakeAt } from './wake-timers.ts';
import { runWorker, type WorkerEnd } from './worker.ts';

/**
 * How long an invocation waits and claims: with the 5 s in which a call may start, and the 15 s that it may take, less
 * than the 30 s that Workers gives to what goes on in the background.
 */
const budgetMs = 9_000;

/**
 * The most transactions of an invocation, for D1 takes 1,000 queries of one: each has seven, and comes with 40 calls at
 * most, of which an invocation may make 10,000.
 */
const maxTransactions = 140;

/** How long a worker works for one webhook while others of its account wait. */
const contendedMs = 2_000;

/**
 * The workers that an account may have in an isolate, and besides them those for accidents. What waits for longer goes
 * back to the queue, which is everybody's.
 */
const bounds = { maxWaiting: 1_000, timeoutMs: 5_000, stepMs: 10, longestMs: 45_000 };
const forAll = fairQueue({ atOnce: 120, ...bounds });
const forAccidents = fairQueue({ atOnce: 40, ...bounds });
const workersFor = ({ accidents }: Wake) => (accidents ? forAccidents : forAll);

/** While other accounts are active, an account's workers may be joined by one every tenth of a second. */
const joining = fairQueue({
  atOnce: 1,
  timeoutMs: 0,
  stepMs: 1,
  restMs: (accountId) => (othersAreActive(accountId) ? 100 : 0),
});

/** When work that has waited for too long comes back, and after a failure of ours, such as an overloaded D1. */
const waitAgainSeconds = 1;
const retrySeconds = 10;

/**
 * Handles one message: works for a webhook, or goes on with the fan-out of a large call. Never throws: what
 * fails is logged and tried again after ten seconds; what is lost is found by the sweep.
 */
export async function handle(env: Env, message: DeliveryMessage): Promise<void> {
  const budget: Budget = { until: Date.now() + budgetMs, transactionsLeft: maxTransactions };
  if ('fanOut' in message)
    return orLater(env, message, async () => {
      const done = await continueFanOut(env, message.fanOut, () => Date.now() < budget.until);
      if (!done) await send(env.DELIVERIES, [message]);
    });
  const done = await workersFor(message).run(message.accountId, () =>
    orLater(env, message, () => work(env, message, budget)),
  );
  if (!done) await sendAfter(env, message, waitAgainSeconds);
}

/** The bindings, and whether all deliveries begin in the queue, where benchmarks can hold them back. */
export type StarterEnv = Env & { QUEUE_ONLY?: true };

/**
 * Returns what starts work on new deliveries behind a request's reply. The first webhook's begins at once, in the
 * request's own background, which spares it the way through the queue; an invocation has connections for one worker only,
 * so all else goes there. The rows are the truth: what cannot be started is no failure of the request, for the sweep
 * finds it.
 */
export function starter(env: StarterEnv, context: Pick<ExecutionContext, 'waitUntil'>) {
  let isFree = !env.QUEUE_ONLY;
  return (messages: DeliveryMessage[]): void => {
    const here = isFree ? messages.slice(0, 1) : [];
    if (here.length > 0) isFree = false;
    for (const message of here) context.waitUntil(handle(env, message));
    context.waitUntil(send(env.DELIVERIES, messages.slice(here.length)));
  };
}

/** What is left of an invocation. */
type Budget = { until: number; transactionsLeft: number };

async function orLater(env: Env, message: DeliveryMessage, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    fault('error', { message: 'Deliveries were interrupted', ...described(error) });
    await sendAfter(env, message, retrySeconds);
  }
}

/** Sends a message that comes later. Best effort: the sweep wakes what the queue refuses. */
const sendAfter = async (env: Env, message: DeliveryMessage, delaySeconds: number): Promise<unknown> =>
  env.DELIVERIES.send(message, { delaySeconds }).catch(() => {});

/** Runs a worker, and sees to whatever has to follow it. */
async function work(env: Env, wake: Wake, budget: Budget): Promise<void> {
  const contendedUntil = Date.now() + contendedMs;
  const inTime = () => {
    const now = Date.now();
    if (--budget.transactionsLeft <= 0 || now >= budget.until) return false;
    return now < contendedUntil || workersFor(wake).waiting(wake.accountId) === 0;
  };
  const end = await runWorker(env, wake, inTime, growth(env, wake));
  if (end.reason === 'webhook gone') return followOrCancel(env, wake);
  if (end.reason === 'out of time') return void (await send(env.DELIVERIES, [wake]));
  const at = await nextWakeAt(env, wake, end);
  if (at !== undefined) await wakeAt(env, wake, at);
}

/** A message may have been under way when its account moved to another home. */
async function followOrCancel(env: Env, { timer: _, ...wake }: Wake): Promise<void> {
  const name = hasHomes(env) ? await homeOfMoved(env, wake.accountId) : undefined;
  const home = name === undefined ? undefined : homesOf(env).get(name);
  if (home) await send(home.DELIVERIES, [wake]);
  else await cancelDeleted(env, wake.webhookId);
}

/** Wakes the two workers that follow this one, each once, as soon as the webhook has work for so many. */
function growth(env: Env, { timer: _, ...wake }: Wake): (workers: number) => void {
  const next = [2 * wake.worker, 2 * wake.worker + 1];
  return (workers) => {
    const [worker = 0] = next;
    if (worker === 0 || worker > workers || workersFor(wake).waiting(wake.accountId) > 0) return;
    void joining.run(wake.accountId, () => {
      next.shift();
      return send(env.DELIVERIES, [{ ...wake, worker }]);
    });
  };
}

/** When to wake an idle webhook again, as far as this worker has to see to it (milliseconds since 1970). */
async function nextWakeAt(
  env: Env,
  wake: Wake,
  { webhook, retryAt }: WorkerEnd,
): Promise<number | undefined> {
  const now = Date.now();
  if (webhook && webhook.failures >= circuitAfter && webhook.openUntil > now) return webhook.openUntil;
  const isTimer = wake.timer !== undefined && webhook?.timerAt === wake.timer;
  // A level of an accident may wait for the one before it.
  const next = isTimer || wake.accidents ? await nextDueAt(env, wake.webhookId) : null;
  const times = [retryAt, next].filter((at) => typeof at === 'number');
  return times.length > 0 ? Math.min(...times) : undefined;
}
