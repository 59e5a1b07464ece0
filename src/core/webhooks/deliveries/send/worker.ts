import { type Database, transaction } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { othersAreActive, transactions } from '../../../platform/fair-queue.ts';
import { type Budget, isLeft, newBudget } from '../../../platform/jobs/budget.ts';
import { type AttemptLog, attemptLog, type DeliveredLine } from '../../../platform/log.ts';
import { send } from '../../../platform/queue.ts';
import { ACCIDENT } from '../../notifications/types.ts';
import { cancelPending } from '../cancel.ts';
import { callsForMs, claimsForMs, leaseMs, type Recorded, startWindowMs } from '../policy.ts';
import { sendAfter, type Wake } from '../queue.ts';
import { next, paceMs, recoveredFrom, type Shown } from '../receiver/next.ts';
import { asState, writeState } from '../receiver/store.ts';
import { setTimer } from '../receiver/timer.ts';
import { callsOf } from './calls.ts';
import { type Claim, type ClaimedWebhook, claimStatements, readClaim } from './claim.ts';
import { recordStatements } from './record.ts';

/**
 * How a delivery is sent, from the message that its webhook has deliveries due until it is recorded:
 *
 * 1. `../consumer.ts` takes the message, and a worker begins here: an invocation that works for one webhook.
 * 2. The worker claims what is due, accidents first, as far as the receiver's window goes (`claim.ts`),
 * 3. makes five calls at a time (`calls.ts`, `attempt.ts`, `call-once.ts`),
 * 4. decides what follows for each delivery (`../policy.ts`) and for the receiver (`../receiver/next.ts`),
 * 5. and stores both in the transaction of its next claim (`record.ts`, `../receiver/store.ts`).
 * 6. If a claim was full and the window allows it, one more message has another worker help.
 * 7. Once a claim is empty and no call under way, it ends, with a timer for the next retry (`../receiver/timer.ts`).
 * 8. If its time is up first, it puts its message back.
 * 9. If it is killed, its claims expire, and the sweep wakes the webhook (`../sweep.ts`).
 */

/** The most transactions of an invocation: each has at most seven of 1,000 queries. */
const maxTransactions = 140;

/** How often a worker tries to record outcomes, each time thrice, and how long it waits in between. */
const maxTries = 5;
const betweenTriesMs = 1_000;

/** How many workers an account may have in an isolate, since their calls take memory, and when others try again. */
export const maxWorkers = 200;
const tryAgainSeconds = 1;

/** What is left of an invocation: transactions, in place of queries, and until when calls may start. */
type Work = Budget & { callsUntil: number; log: AttemptLog['log'] };

/**
 * Works for a webhook as long as an invocation may.
 * @throws Refusal: unavailable, or what D1 throws; claims then expire, and the sweep wakes their deliveries
 */
export async function work(env: Env, wake: Wake): Promise<void> {
  const { accountId, webhookId, accidents } = wake;
  if (!accidents && isCrowded(accountId)) return sendAfter(env, wake, tryAgainSeconds);
  const budget = newBudget({ ms: claimsForMs, queries: maxTransactions });
  const me = { accountId, until: Date.now() + leaseMs };
  atWork.add(me);
  const { log, end: endLog } = attemptLog();
  try {
    const end = await runWorker(env, wake, { ...budget, callsUntil: Date.now() + callsForMs, log });
    if (!end.webhook) await cancelPending(env, [webhookId]);
    else if (!end.isLate) await setTimer(env, wake, { ...end, state: end.webhook.state });
    else if (isCrowded(accountId)) await sendAfter(env, wake, tryAgainSeconds);
    else await send(env.DELIVERIES, [wake]);
  } finally {
    atWork.delete(me);
    endLog();
  }
}

/** The workers of this isolate, and when each has ended, even if it is killed. */
const atWork = new Set<{ accountId: string; until: number }>();

function isCrowded(accountId: string): boolean {
  const now = Date.now();
  for (const worker of atWork) if (worker.until < now) atWork.delete(worker);
  return [...atWork].filter((worker) => worker.accountId === accountId).length >= maxWorkers;
}

type End = {
  /** Undefined if it is gone. */
  webhook: ClaimedWebhook | undefined;
  /** Whether time was up before a claim was empty. */
  isLate: boolean;
  /** When it last claimed, and whether it has scheduled a retry. */
  lookedAt: number;
  hasRetry: boolean;
};

/** Claims, calls and records for one webhook, until a claim is empty or time is up. */
export async function runWorker(env: Env, wake: Wake, budget: Work): Promise<End> {
  const { webhookId, worker } = wake;
  const db = openDatabase(env);
  const calls = callsOf(env, webhookId);
  let latest: Step | undefined;
  for (let hasHelper = false; ; ) {
    const outcomes: Recorded[] = [];
    const transact = () =>
      inTurn(wake, () => {
        const mayClaim = isLeft(budget);
        budget.queries--;
        const ended = calls.takeEnded();
        logAttempts(budget.log, webhookId, ended);
        outcomes.push(...ended);
        return recordAndClaim(db, wake, outcomes, mayClaim ? calls.room() : 0, latest);
      });
    const step: Step = await persistently(outcomes, transact);
    latest = step;
    const { webhook, claimed, count, now } = step;
    if (webhook) calls.start(webhook, claimed, Math.min(now + startWindowMs, budget.callsUntil));
    const isFull = claimed.length > 0 && claimed.length === count;
    if (webhook && isFull && !hasHelper && worker < (await calls.workersFor(webhook.window))) {
      hasHelper = true;
      const { timer: _, ...helper } = { ...wake, worker: worker + 1 };
      void send(env.DELIVERIES, [helper]);
    }
    const pauseMs = webhook && worker === 1 && count > 0 ? paceMs(webhook, now) : 0;
    if (!calls.isIdle()) await calls.progress(count > 0);
    else if (pauseMs > 0) await scheduler.wait(pauseMs);
    else if (!step.unsaid)
      return { webhook, isLate: count === 0, lookedAt: now, hasRetry: calls.hasRetry() };
  }
}

/** Tries again for some seconds to record outcomes: those that are not recorded are called again. */
async function persistently<T>(outcomes: Recorded[], transact: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await transact();
    } catch (error) {
      if (outcomes.length === 0 || tries === maxTries) throw error;
      await scheduler.wait(betweenTriesMs);
    }
}

/** A transaction of a worker: what it claimed of `count`, and what the receiver has shown that is not stored yet. */
type Step = Claim & { count: number; now: number; unsaid: Shown | undefined };

/** Records outcomes and what follows for the receiver, and claims up to `count`, in one transaction. */
async function recordAndClaim(
  db: Database,
  { webhookId, accidents: accidentsOnly = false }: Wake,
  outcomes: Recorded[],
  count: number,
  latest: Step | undefined,
): Promise<Step> {
  const now = Date.now();
  const known = latest?.webhook;
  const shown = known && shownBy(outcomes, known, latest?.unsaid);
  const before = known && asState(known.state);
  const after = before && shown ? next(before, shown, now) : before;
  const isNews = JSON.stringify(after) !== JSON.stringify(before);
  // A claim that D1 does not confirm expires; recording twice is harmless, and a state is only stored once.
  const results = await transaction(
    db,
    {
      recorded: recordStatements(
        db,
        webhookId,
        outcomes,
        now,
        before && after && recoveredFrom(before, after),
      ),
      stored: known && after && isNews ? writeState(db, webhookId, known.state, after) : undefined,
      claimed: claimStatements(db, { webhookId, count, now, accidentsOnly, known }),
    },
    { repeatable: outcomes.length > 0 },
  );
  const claim = readClaim(results.claimed);
  // Another worker was faster: what follows is decided again, from the state that it left.
  const isLost =
    results.stored?.meta.changes === 0 &&
    claim.webhook &&
    claim.webhook.state !== JSON.stringify(after);
  return { ...claim, count, now, unsaid: isLost ? shown : undefined };
}

/** What outcomes show of their receiver, with those before them that were not stored. */
const shownBy = (
  outcomes: Recorded[],
  known: ClaimedWebhook,
  unsaid: Shown | undefined,
): Shown => ({
  attempts: [...(unsaid?.attempts ?? []), ...outcomes.flatMap(({ attempt }) => attempt ?? [])],
  window: unsaid?.window ?? known.window,
  more: known.more === 1,
  ceiling: known.ceiling,
  accidentWaits:
    known.accidentWaits === 1 ||
    outcomes.some(({ delivery, status }) => delivery.type === ACCIDENT && status === 'pending'),
});

/** While other accounts are active, the workers of one make their transactions one by one; those of accidents need not. */
async function inTurn<T>({ accountId, accidents }: Wake, step: () => Promise<T>): Promise<T> {
  if (accidents || !othersAreActive(accountId)) return step();
  const turn = await transactions.run(accountId, step);
  return turn ? turn.result : step();
}

/** Logs attempts: one line for all successful ones, and one for each failure. */
function logAttempts(log: AttemptLog['log'], webhookId: string, outcomes: Recorded[]): void {
  const delivered: DeliveredLine['deliveries'] = [];
  let accountId = '';
  for (const { delivery, attempt, nextAttemptAt } of outcomes) {
    if (!attempt) continue;
    const { requestId, id: deliveryId, type } = delivery;
    const { at, result, status = null, durationMs: ms } = attempt;
    const lateMs = Math.max(0, at - delivery.dueAt);
    const made = {
      requestId,
      deliveryId,
      type,
      attempt: delivery.attempts + 1,
      lateMs,
      status,
      ms,
    };
    const retryMs = nextAttemptAt && nextAttemptAt - at - ms;
    accountId = delivery.accountId;
    if (result === 'success') delivered.push(made);
    else log({ level: 'info', kind: 'attempt', webhookId, accountId, result, ...made, retryMs });
  }
  if (delivered.length > 0)
    log({ level: 'info', kind: 'delivered', webhookId, accountId, deliveries: delivered });
}
