import { transaction } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { type Budget, isLeft, newBudget } from '../../../platform/jobs/budget.ts';
import { type AttemptLog, attemptLog, type DeliveredLine } from '../../../platform/log.ts';
import { send } from '../../../platform/queue.ts';
import { cancelPending } from '../cancel.ts';
import { callsForMs, claimsForMs, paceMs, type Recorded, startWindowMs } from '../policy.ts';
import { sendAfter, type Wake } from '../queue.ts';
import { addTallies, attemptsIn, countOutcomes, noTally, tallyOf } from '../read/counts.ts';
import { reportOf } from '../receiver/circuit.ts';
import { wakeForRetry } from '../receiver/timers.ts';
import { callsOf } from './calls.ts';
import { type Claim, claimStatements, readClaim } from './claim.ts';
import { recordStatements } from './record.ts';
import { growth, inWorkersTurn, transactions, workersWait } from './turns.ts';

/**
 * How a delivery is sent:
 *
 * 1. An ingest call writes it (`../fan-out.ts`) and wakes its webhook.
 * 2. `../consumer.ts` takes the message. A worker begins when it is its turn here (`turns.ts`).
 * 3. It claims what is due, as far as the receiver's window goes (`claim.ts`, `../receiver/window.ts`),
 * 4. makes five calls at a time (`calls.ts`, `attempt.ts`), and decides what follows (`../policy.ts`).
 * 5. It records the outcomes, and what they say of the receiver (`../receiver/circuit.ts`), in the
 *    transaction of its next claim (`record.ts`).
 * 6. If a claim leaves work for others, it wakes two more workers, and they two more each.
 * 7. When nothing is due, a timer wakes the webhook for its next retry (`../receiver/timers.ts`).
 * 8. If it is killed, its claims expire, and the sweep wakes the webhook (`../sweep.ts`).
 */

/**
 * The most transactions of an invocation: each has seven of 1,000 queries, and 40 calls at most.
 * If a batch counts once, which `npm run deploy -- --check` shows, it may be seven times as many.
 */
const maxTransactions = 140;

/** What is left of an invocation: transactions, in place of queries, and until when calls may start. */
type Work = Budget & { callsUntil: number; log: AttemptLog['log'] };

/** How long a worker works for one webhook while others of its account wait. */
const contendedMs = 2_000;

/** When work returns that waited too long for its turn. */
const waitAgainSeconds = 1;

/**
 * Works for a webhook as long as an invocation may.
 * @throws Refusal: unavailable, or what D1 throws; claims then expire, and the sweep wakes their deliveries
 */
export async function work(env: Env, wake: Wake): Promise<void> {
  const { log, end: endLog } = attemptLog();
  const left = newBudget({ ms: claimsForMs, queries: maxTransactions });
  const budget = { ...left, callsUntil: Date.now() + callsForMs, log };
  try {
    for (;;) {
      const turn = await inWorkersTurn(wake, () => runWorker(env, wake, budget), budget.until);
      if (!turn) return await sendAfter(env, wake, waitAgainSeconds);
      const end = turn.result;
      if (end.reason === 'webhook gone') return await cancelPending(env, [wake.webhookId]);
      if (end.reason === 'idle') return await wakeForRetry(env, wake, end);
      if (!isLeft(budget)) return void (await send(env.DELIVERIES, [wake]));
    }
  } finally {
    endLog();
  }
}

type WorkerEnd = {
  reason: 'idle' | 'out of time' | 'webhook gone';
  webhook: Claim['webhook'];
  /** When the first retry that this worker has scheduled is due; undefined if there is none. */
  retryAt: number | undefined;
};

/** A claim, whether more is due than it holds, and whether there may be another. */
type Latest = Claim & { isFull: boolean; mayClaim: boolean };

/** How many attempts are counted together while a worker has more to do, which saves row writes. */
const countedTogether = 10;

/** Claims, calls and records for one webhook, until a claim is empty or the budget is used up. */
export async function runWorker(env: Env, wake: Wake, budget: Work): Promise<WorkerEnd> {
  const { accountId, webhookId, worker, accidents = false } = wake;
  const db = openDatabase(env);
  const calls = callsOf(env, accountId, webhookId);
  const grow = growth(env, wake);
  const contendedUntil = Date.now() + contendedMs;
  let latest: Latest | undefined;
  let uncounted = noTally;

  /** Records what has ended, and claims as much as there is room for, in one transaction. */
  const recordAndClaim = async (isItsTurn = true): Promise<Latest> => {
    const now = Date.now();
    budget.queries--;
    const mayClaim = isItsTurn && isLeft(budget) && (now < contendedUntil || !workersWait(wake));
    const count = mayClaim ? calls.room() : 0;
    const outcomes = calls.takeFinished();
    logAttempts(budget.log, webhookId, outcomes);
    const tally = addTallies([uncounted, tallyOf(outcomes)]);
    const isLater = outcomes.length === 0 || (latest?.isFull && attemptsIn(tally) < countedTogether);
    uncounted = isLater ? tally : noTally;
    const known = latest?.webhook;
    const report = known && reportOf(outcomes, known);
    // A claim that D1 does not confirm expires; recording twice is harmless.
    const { claimed } = await transaction(
      db,
      {
        recorded: recordStatements(db, webhookId, outcomes, {
          report,
          tally: isLater ? noTally : tally,
          now,
        }),
        claimed: claimStatements(db, { webhookId, count, now, accidentsOnly: accidents, known }),
      },
      { repeatable: outcomes.length > 0 },
    );
    const claim = readClaim(claimed, now);
    return { ...claim, isFull: hasMore(claim, count), mayClaim };
  };
  /** Accidents need no turn, and what has ended is recorded without one. */
  const next = async (): Promise<Latest | undefined> => {
    if (accidents) return recordAndClaim();
    const turn = await transactions.run(accountId, () => recordAndClaim());
    return turn?.result ?? (calls.idle() ? undefined : recordAndClaim(false));
  };
  const end = async (reason: WorkerEnd['reason']): Promise<WorkerEnd> => {
    if (attemptsIn(uncounted) > 0) await countOutcomes(db, webhookId, uncounted, undefined, Date.now());
    return { reason, webhook: latest?.webhook, retryAt: calls.retryAt() };
  };

  for (let claim = await next(); claim; claim = await next()) {
    latest = claim;
    const { webhook, claimed, now, isFull, mayClaim } = claim;
    if (webhook) calls.start(webhook, claimed, Math.min(now + startWindowMs, budget.callsUntil));
    if (webhook && isFull) {
      await calls.paceKnown();
      grow(calls.workersFor(webhook.window));
    }
    if (!calls.idle()) {
      await calls.progress(mayClaim);
      continue;
    }
    const pauseMs = webhook && worker === 1 && mayClaim ? paceMs(webhook, now) : 0;
    if (pauseMs === 0) return end(!webhook ? 'webhook gone' : mayClaim ? 'idle' : 'out of time');
    await scheduler.wait(pauseMs);
  }
  return end('out of time');
}

/** Whether more is due than this claim holds, of `count` deliveries that were asked for. */
const hasMore = ({ webhook, claimed }: Claim, count: number): boolean =>
  claimed.length > 0 && (webhook?.more === 1 || claimed.length === count);

/** Logs attempts: one line for all successful ones, and one for each failure. */
function logAttempts(log: AttemptLog['log'], webhookId: string, outcomes: Recorded[]): void {
  const delivered: DeliveredLine['deliveries'] = [];
  let accountId = '';
  for (const { delivery, attempt } of outcomes) {
    if (!attempt) continue;
    const { requestId, id: deliveryId, type } = delivery;
    const { result, status = null, durationMs: ms } = attempt;
    const made = { requestId, deliveryId, type, attempt: delivery.attempts + 1, status, ms };
    accountId = delivery.accountId;
    if (result === 'success') delivered.push(made);
    else log({ level: 'info', kind: 'attempt', webhookId, accountId, result, ...made });
  }
  if (delivered.length > 0)
    log({ level: 'info', kind: 'delivered', webhookId, accountId, deliveries: delivered });
}
