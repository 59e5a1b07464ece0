import { homeOfMoved } from '../../platform/db/moving.ts';
import { fairQueue, othersAreActive } from '../../platform/fair-queue.ts';
import { hasHomes, homesOf } from '../../platform/homes/homes.ts';
import { attemptLog, described, fault } from '../../platform/log.ts';
import { send } from '../../platform/queue.ts';
import { cancelDeleted } from './cancel.ts';
import type { FirstClaim, NewWork } from './claim.ts';
import { continueFanOut } from './fan-out.ts';
import { accidentRetryMs, callTimeoutMs, circuitAfter } from './policy.ts';
import type { DeliveryMessage, Wake } from './queue.ts';
import { nextDueAt, probeSooner, wakeAt } from './wake-timers.ts';
import { runWorker, type WorkerBudget, type WorkerEnd } from './worker.ts';

/**
 * Workers gives 30 s to what goes on in the background, and cuts off the rest: a call may start as long as it can take
 * its 15 s, with two more to record how it ended.
 */
const callsForMs = 30_000 - callTimeoutMs - 2_000;

/** How long an invocation waits and claims: what it claims last has a few seconds to start. */
const budgetMs = callsForMs - 4_000;

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
  // One whose turn is over while others wait for theirs gets in line again.
  let first = claim;
  for (let again = true; again; first = undefined) {
    const turn = await workersFor(message).run(
      message.accountId,
      () => orLater(env, message, () => work(env, message, budget, first)),
      budget.until,
    );
    if (!turn) await sendAfter(env, message, waitAgainSeconds);
    again = turn?.result === 'again';
  }
  attempts.end();
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

/** Sends a message that comes later. Best effort: the sweep wakes what the queue refuses. */
const sendAfter = async (env: Env, message: DeliveryMessage, delaySeconds: number): Promise<void> =>
  void (await env.DELIVERIES.send(message, { delaySeconds }).catch(() => {}));

/** Runs a worker, and sees to whatever has to follow it. Returns 'again' if it made room for others, with time left. */
async function work(env: Env, wake: Wake, budget: Budget, claim?: FirstClaim): Promise<'again' | 'done'> {
  const contendedUntil = Date.now() + contendedMs;
  const isLeft = () => budget.transactionsLeft > 0 && Date.now() < budget.until;
  const inTime = () => {
    budget.transactionsLeft--;
    return isLeft() && (Date.now() < contendedUntil || workersFor(wake).waiting(wake.accountId) === 0);
  };
  const end = await runWorker(env, wake, { ...budget, inTime }, growth(env, wake), claim);
  if (end.reason === 'webhook gone') await followOrCancel(env, wake);
  else if (end.reason === 'idle') {
    const at = await nextWakeAt(env, wake, end);
    if (at !== undefined) await wakeAt(env, wake, at);
  } else if (isLeft()) return 'again';
  else await send(env.DELIVERIES, [wake]);
  return 'done';
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
  if (webhook && webhook.failures >= circuitAfter && webhook.openUntil > now) {
    const probeAt = now + accidentRetryMs;
    if (!wake.accidents || webhook.openUntil <= probeAt) return webhook.openUntil;
    await probeSooner(env, wake.webhookId, probeAt);
    return probeAt;
  }
  const isTimer = wake.timer !== undefined && webhook?.timerAt === wake.timer;
  // A level of an accident may wait for the one before it.
  const next = isTimer || wake.accidents ? await nextDueAt(env, wake.webhookId) : null;
  const times = [retryAt, next].filter((at) => typeof at === 'number');
  return times.length > 0 ? Math.min(...times) : undefined;
}
