import { homeOfMoved } from '../../platform/db/moved.ts';
import { hasHomes, homesOf } from '../../platform/homes/homes.ts';
import { described, fault } from '../../platform/log.ts';
import { cancelDeleted } from './cancel.ts';
import { crews, type Member } from './crew.ts';
import { continueFanOut } from './fan-out.ts';
import { circuitAfter } from './policy.ts';
import { type DeliveryMessage, send, type Wake } from './queue.ts';
import { nextDueAt, wakeAt } from './wake-timers.ts';
import { type LaneEnd, runLane } from './worker.ts';

/**
 * How long an invocation claims: with the 5 s in which a call may start, and the 15 s that it may take, less than the
 * 30 s that Workers gives to what goes on in the background.
 */
const turnMs = 9_000;

/**
 * The most transactions of an invocation's lanes, for D1 takes 1,000 queries of one: each has seven, and comes with 40
 * calls at most, of which an invocation may make 10,000.
 */
const maxTransactions = 140;

/** How long a lane works for one webhook while others of its account wait. */
const contendedSliceMs = 2_000;

/** The lanes that an account may have in an isolate at the same time, and besides them those for accidents. */
const forAll = crews(120);
const forAccidents = crews(40);

/** After a failure of ours, such as an overloaded D1. */
const retrySeconds = 10;

/**
 * Handles one message: works for a webhook, or goes on with the fan-out of a large call. Never throws: what
 * fails is logged and tried again after ten seconds; what is lost is found by the sweep.
 */
export async function handle(env: Env, message: DeliveryMessage): Promise<void> {
  const until = Date.now() + turnMs;
  if ('fanOut' in message)
    return orLater(env, message, async () => {
      const done = await continueFanOut(env, message.fanOut, () => Date.now() < until);
      if (!done) await send(env.DELIVERIES, [message]);
    });
  const member = (message.accidents ? forAccidents : forAll).join(message);
  if (!member) return;
  const turn: Turn = { until, transactionsLeft: maxTransactions };
  try {
    for (let wake: Wake | undefined = message; wake; wake = member.next()) {
      const current = wake;
      await orLater(env, current, () => work(env, current, turn, member));
      if (isOpen(turn)) continue;
      // What waits needs a fresh invocation.
      const next = member.next();
      if (next) await send(env.DELIVERIES, [next]);
      return;
    }
  } finally {
    member.leave();
  }
}

/** The bindings, and whether all deliveries begin in the queue, where benchmarks can hold them back. */
export type StarterEnv = Env & { QUEUE_ONLY?: true };

/**
 * Returns what starts work on new deliveries behind a request's reply. The first webhook's begins at once, in the
 * request's own background, which spares it the way through the queue; an invocation has connections for one lane only,
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
type Turn = { until: number; transactionsLeft: number };

const isOpen = ({ until, transactionsLeft }: Turn): boolean => transactionsLeft > 0 && Date.now() < until;

async function orLater(env: Env, message: DeliveryMessage, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    fault('error', { message: 'Deliveries were interrupted', ...described(error) });
    await env.DELIVERIES.send(message, { delaySeconds: retrySeconds }).catch(() => {}); // the sweep wakes it
  }
}

/** Runs a lane, and sees to whatever has to follow it. */
async function work(env: Env, wake: Wake, turn: Turn, member: Member): Promise<void> {
  const sliceUntil = Date.now() + contendedSliceMs;
  const inTime = () => {
    turn.transactionsLeft--;
    return isOpen(turn) && (!member.isContended() || Date.now() < sliceUntil);
  };
  const end = await runLane(env, wake, inTime, growth(env, wake, member));
  if (end.reason === 'webhook gone') return followOrCancel(env, wake);
  if (end.reason === 'out of time') {
    if (isOpen(turn)) member.putBack(wake);
    else await send(env.DELIVERIES, [wake]);
    return;
  }
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

/** Wakes the two lanes that follow this one, each once, as soon as the webhook has work for so many. */
function growth(env: Env, wake: Wake, member: Member): (lanes: number) => void {
  const next = [2 * wake.lane, 2 * wake.lane + 1];
  return (lanes) => {
    const [lane = 0] = next;
    if (lane === 0 || lane > lanes || !member.mayAdd()) return;
    next.shift();
    const { timer, ...same } = wake;
    void send(env.DELIVERIES, [{ ...same, lane }]);
  };
}

/** When to wake an idle webhook again, as far as this lane has to see to it (milliseconds since 1970). */
async function nextWakeAt(env: Env, wake: Wake, { webhook, retryAt }: LaneEnd): Promise<number | undefined> {
  const now = Date.now();
  if (webhook && webhook.failures >= circuitAfter && webhook.openUntil > now) return webhook.openUntil;
  const isTimer = wake.timer !== undefined && webhook?.timerAt === wake.timer;
  // A level of an accident may wait for the one before it.
  const next = isTimer || wake.accidents ? await nextDueAt(env, wake.webhookId) : null;
  const times = [retryAt, next].filter((at) => typeof at === 'number');
  return times.length > 0 ? Math.min(...times) : undefined;
}
