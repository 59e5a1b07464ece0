import { described, fault } from '../log.ts';
import { callsPerLane } from './calls.ts';
import { cancelDeleted } from './cancel.ts';
import type { ClaimedWebhook } from './claim.ts';
import { continueFanOut } from './fan-out.ts';
import { type LaneEnd, runLane } from './lane.ts';
import { circuitAfter } from './policy.ts';
import { type FanOut, type QueueMessage, send, type Wake } from './queue.ts';
import { isContended, withSlot } from './slots.ts';
import { nextDueAt, wakeAt } from './timers.ts';

/**
 * How long a lane waits for a slot and claims before its message goes back to the queue: with the 15 s of a last
 * call less than the 30 s that Workers gives to what goes on in the background.
 */
const turnMs = 14_000;
const slotPatienceMs = 8_000;

/** How long a lane claims while others of its account wait. */
const contendedSliceMs = 2_000;

/** After a failure of ours, such as an overloaded D1. */
const retrySeconds = 10;

/**
 * Handles one message: works for a webhook, or goes on with the fan-out of a large call (design 9). Never throws: what
 * fails is logged and tried again after ten seconds; what is lost is found by the sweep.
 */
export async function handle(env: Env, message: QueueMessage): Promise<void> {
  try {
    const until = Date.now() + turnMs;
    if ('fanOut' in message) return await goOnWithFanOut(env, message, until);
    const served = await withSlot(message.accountId, slotPatienceMs, () => work(env, message, until));
    if (!served) await send(env.DELIVERIES, [message]);
  } catch (error) {
    fault('error', { message: 'Deliveries were interrupted', ...described(error) });
    await env.DELIVERIES.send(message, { delaySeconds: retrySeconds }).catch(() => {}); // the sweep wakes it
  }
}

async function goOnWithFanOut(env: Env, message: FanOut, until: number): Promise<void> {
  const done = await continueFanOut(env, message.fanOut, () => Date.now() < until);
  if (!done) await send(env.DELIVERIES, [message]);
}

async function work(env: Env, wake: Wake, until: number): Promise<void> {
  const shortUntil = Date.now() + contendedSliceMs;
  const inTime = () => Date.now() < (isContended(wake.accountId) ? Math.min(shortUntil, until) : until);
  let grown = false;
  const grow = (webhook: ClaimedWebhook) => {
    const lanes = Math.ceil(webhook.window / callsPerLane);
    const next = [2 * wake.lane, 2 * wake.lane + 1].filter((lane) => lane <= lanes);
    if (grown || next.length === 0) return;
    grown = true;
    const { accountId, webhookId } = wake;
    void send(
      env.DELIVERIES,
      next.map((lane) => ({ accountId, webhookId, lane })),
    );
  };
  const end = await runLane(env, wake.webhookId, inTime, grow);
  if (end.reason === 'webhook gone') return cancelDeleted(env, wake.webhookId);
  if (end.reason === 'out of time') return void (await send(env.DELIVERIES, [wake]));
  const at = await nextWakeAt(env, wake, end);
  if (at !== undefined) await wakeAt(env, wake, at);
}

/** When to wake an idle webhook again, as far as this lane has to see to it (milliseconds since 1970). */
async function nextWakeAt(env: Env, wake: Wake, { webhook, retryAt }: LaneEnd): Promise<number | undefined> {
  const now = Date.now();
  if (webhook && webhook.failures >= circuitAfter && webhook.openUntil > now) return webhook.openUntil;
  const isTimer = wake.timer !== undefined && webhook?.timerAt === wake.timer;
  const next = isTimer ? await nextDueAt(env, wake.webhookId) : null;
  const times = [retryAt, next].filter((at) => typeof at === 'number');
  return times.length > 0 ? Math.min(...times) : undefined;
}
