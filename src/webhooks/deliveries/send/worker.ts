import { type Database, transaction } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import type { AttemptLog, DeliveredLine } from '../../../platform/log.ts';
import type { ClaimedDelivery, Recorded } from '../delivery.ts';
import { paceMs, startWindowMs } from '../policy.ts';
import type { Wake } from '../queue.ts';
import { addTallies, attemptsIn, countOutcomes, noTally, tallyOf } from '../read/counts.ts';
import { reportOf } from '../receiver/circuit.ts';
import { callsOf } from './calls.ts';
import { type ClaimedWebhook, type ClaimRequest, claimStatements, readClaim } from './claim.ts';
import type { FirstClaim } from './first-claim.ts';
import { type RecordOptions, recordStatements } from './record.ts';
import { growth, transactions } from './turns.ts';

/**
 * How a delivery is sent:
 *
 * 1. An ingest call writes it (`../fan-out.ts`) and may claim it itself (`first-claim.ts`), or a message wakes its webhook.
 * 2. `../consumer.ts` takes the message, and runs a worker when it is its turn in this isolate (`turns.ts`).
 * 3. The worker claims what is due, as far as the receiver's window goes (`claim.ts`, `../receiver/window.ts`).
 * 4. It makes five calls at a time (`calls.ts`, `attempt.ts`), and decides what follows each (`../policy.ts`).
 * 5. It records the outcomes, and what they say of the receiver, in the transaction of its next claim (`record.ts`,
 *    `../receiver/circuit.ts`).
 * 6. A claim that leaves work for others wakes two more workers, and they two more each (`turns.ts`).
 * 7. When nothing is due any more, a timer wakes the webhook for its next retry (`../receiver/timers.ts`).
 * 8. A worker may be killed at any time: claims expire, and the sweep wakes their webhooks (`../sweep.ts`).
 */

/**
 * What a worker may still do: `inTime` for another claim, checked in each transaction, and until when a call may start
 * (milliseconds since 1970), because later ones would outlive the invocation. `log` bounds the logged attempts.
 */
export type WorkerBudget = { inTime: () => boolean; callsUntil: number; log: AttemptLog['log'] };

/** How a worker ended: nothing was left to claim, its time or its turn was over, or the webhook was deleted. */
export type WorkerEnd = {
  reason: 'idle' | 'out of time' | 'webhook gone';
  /** The webhook after the last record. */
  webhook: ClaimedWebhook | undefined;
  /** When the first retry that this worker has scheduled is due; undefined if there is none. */
  retryAt: number | undefined;
};

/** What a worker has claimed at a time, of the `count` deliveries that it asked for; `more` if it may claim again. */
type Claim = {
  webhook: ClaimedWebhook | undefined;
  claimed: ClaimedDelivery[];
  now: number;
  count: number;
  more: boolean;
};

/**
 * Works for one webhook, until a claim is empty or the budget is used up. Starts with the claim `first`, if given.
 *
 * @throws Refusal: unavailable, or what D1 throws; claims then expire, and the sweep wakes their deliveries
 */
export async function runWorker(
  env: Env,
  wake: Wake,
  { inTime, callsUntil, log }: WorkerBudget,
  first?: FirstClaim,
): Promise<WorkerEnd> {
  const { accountId, webhookId, worker, accidents = false } = wake;
  const db = openDatabase(env);
  const calls = callsOf(env, accountId, webhookId);
  const grow = growth(env, wake);
  let webhook: ClaimedWebhook | undefined;
  let uncounted = noTally;
  let full = false;

  const recordAndClaim = async (mayClaim = true): Promise<Claim> => {
    const now = Date.now();
    const more = inTime() && mayClaim;
    const count = more ? calls.room() : 0;
    const outcomes = calls.takeFinished();
    logAttempts(log, webhookId, outcomes);
    const tally = addTallies([uncounted, tallyOf(outcomes)]);
    const later = outcomes.length === 0 || (full && attemptsIn(tally) < countedTogether);
    const report = webhook && reportOf(outcomes, webhook);
    const claim = { webhookId, count, now, accidentsOnly: accidents, known: webhook };
    const found = await inOneTransaction(db, claim, outcomes, {
      report,
      tally: later ? noTally : tally,
      now,
    });
    uncounted = later ? tally : noTally;
    return { ...found, now, more, count };
  };
  /** Accidents wait for nobody, and what was called is recorded though it is not this worker's turn. */
  const next = async (): Promise<Claim | undefined> => {
    if (accidents) return recordAndClaim();
    const turn = await transactions.run(accountId, recordAndClaim);
    return turn?.result ?? (calls.idle() ? undefined : recordAndClaim(false));
  };
  const end = async (reason: WorkerEnd['reason']): Promise<WorkerEnd> => {
    if (attemptsIn(uncounted) > 0)
      await transaction(db, [countOutcomes(db, webhookId, uncounted, undefined, Date.now())]);
    return { reason, webhook, retryAt: calls.retryAt() };
  };

  for (let claim = first ? ofCall(first) : await next(); claim; claim = await next()) {
    const { claimed, count, more, now } = claim;
    webhook = claim.webhook;
    full = claimed.length > 0 && (webhook?.more || claimed.length === count);
    if (webhook) calls.start(webhook, claimed, Math.min(now + startWindowMs, callsUntil));
    if (webhook && full) {
      await calls.paceKnown();
      grow(calls.workersFor(webhook.window));
    }
    if (!calls.idle()) {
      await calls.progress(more);
      continue;
    }
    const pauseMs = webhook && worker === 1 && more ? paceMs(webhook, now) : 0;
    if (pauseMs === 0) return end(!webhook ? 'webhook gone' : count > 0 ? 'idle' : 'out of time');
    await scheduler.wait(pauseMs);
  }
  return end('out of time');
}

/** A claim taken by an ingest call, which says itself whether more is due. */
const ofCall = (first: FirstClaim): Claim => ({ ...first, count: Number.POSITIVE_INFINITY, more: true });

/** How many attempts are counted together while a worker has more to do, which saves row writes. */
const countedTogether = 10;

/** One round trip for the outcomes so far and the next claim. */
async function inOneTransaction(
  db: Database,
  claim: ClaimRequest,
  outcomes: Recorded[],
  options: RecordOptions,
) {
  const claiming = claimStatements(db, claim);
  if (outcomes.length === 0) {
    const [claimed, , webhook] = await transaction(db, claiming);
    return readClaim(claimed, webhook);
  }
  // A claim that D1 does not confirm expires; recording twice is harmless.
  const statements = [...recordStatements(db, claim.webhookId, outcomes, options), ...claiming] as const;
  const [, , , , claimed, , webhook] = await transaction(db, statements, { repeatable: true });
  return readClaim(claimed, webhook);
}

/**
 * Logs a worker's attempts: one line for all successful ones, with what is needed to trace each, and one for each
 * failure.
 */
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
