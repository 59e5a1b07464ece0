import { type Database, openDatabase, transaction } from '../../../platform/db/database.ts';
import { fairQueue, halfTheTime, othersAreActive } from '../../../platform/fair-queue.ts';
import type { AttemptLog, DeliveredLine } from '../../../platform/log.ts';
import type { Recorded } from '../delivery.ts';
import { paceMs, startWindowMs } from '../policy.ts';
import type { Wake } from '../queue.ts';
import { addTallies, attemptsIn, countOutcomes, noTally, tallyOf } from '../read/counts.ts';
import { reportOf } from '../receiver/circuit.ts';
import { callsOf } from './calls.ts';
import { type ClaimedWebhook, type ClaimRequest, claimStatements, readClaim } from './claim.ts';
import type { FirstClaim } from './first-claim.ts';
import { type RecordOptions, recordStatements } from './record.ts';

/** How a worker ended: nothing was left to claim, its time was up, or the webhook was deleted. */
export type WorkerEnd = {
  reason: 'idle' | 'out of time' | 'webhook gone';
  /** The webhook after the last record. */
  webhook: ClaimedWebhook | undefined;
  /** When the first retry that this worker has scheduled is due; undefined if there is none. */
  retryAt: number | undefined;
};

/**
 * The transactions of an account's workers: D1 runs them one by one, so other accounts wait for a few of them at most.
 */
const transactions = fairQueue({
  atOnce: (accountId) => (othersAreActive(accountId) ? 1 : 4),
  timeoutMs: 5_000,
  stepMs: 2,
  pauseMs: halfTheTime(20),
});

/**
 * What a worker may still do: `inTime` for another claim, checked in each transaction, and until when a call may start
 * (milliseconds since 1970), because later ones would outlive the invocation. `log` bounds the logged attempts.
 */
export type WorkerBudget = { inTime: () => boolean; callsUntil: number; log: AttemptLog['log'] };

/**
 * Works for one webhook: claims deliveries, calls the receiver, five calls at a time, and records the outcomes in the
 * transaction of the next claim, until a claim is empty or the budget is used up. `onFull` is called after each claim
 * that leaves work for other workers, with the number of workers that there is work for. Starts with the claim `first`,
 * if given.
 *
 * @throws Refusal: unavailable, or what D1 throws; claims then expire, and the sweep wakes their deliveries
 */
export async function runWorker(
  env: Env,
  { accountId, webhookId, worker, accidents = false }: Wake,
  { inTime, callsUntil, log }: WorkerBudget,
  onFull: (workers: number) => void,
  first?: FirstClaim,
): Promise<WorkerEnd> {
  const db = openDatabase(env);
  const calls = callsOf(env, accountId, webhookId);
  let uncounted = noTally;
  let webhook: ClaimedWebhook | undefined;
  let full = false;
  const recordAndClaim = async () => {
    const now = Date.now();
    const more = inTime();
    const count = more ? calls.room() : 0;
    const outcomes = calls.takeFinished();
    logAttempts(log, webhookId, outcomes);
    const claim = { webhookId, count, now, accidentsOnly: accidents, known: webhook };
    const report = webhook && reportOf(outcomes, webhook);
    const tally = addTallies([uncounted, tallyOf(outcomes)]);
    const later = outcomes.length === 0 || (full && attemptsIn(tally) < countedTogether);
    const found = await inOneTransaction(db, claim, outcomes, {
      report,
      tally: later ? noTally : tally,
      now,
    });
    uncounted = later ? tally : noTally;
    if (found.webhook) calls.start(found.webhook, found.claimed, Math.min(now + startWindowMs, callsUntil));
    return { ...found, now, more, count };
  };
  /** Accidents wait for nobody. */
  const next = async () =>
    (accidents ? undefined : await transactions.run(accountId, recordAndClaim))?.result ?? recordAndClaim();
  if (first) calls.start(first.webhook, first.claimed, Math.min(first.now + startWindowMs, callsUntil));
  for (let claim = first && { ...first, more: true, count: first.claimed.length }; ; claim = undefined) {
    const { webhook: found, claimed, now, more, count } = claim ?? (await next());
    webhook = found;
    full = claimed.length > 0 && (webhook?.more || (claimed.length === count && !claim));
    if (webhook && full) {
      await calls.paceKnown();
      onFull(calls.workersFor(webhook.window));
    }
    if (calls.idle()) {
      const pauseMs = webhook && worker === 1 && more ? paceMs(webhook, now) : 0;
      const reason = !webhook ? 'webhook gone' : count > 0 ? 'idle' : 'out of time';
      if (pauseMs === 0) {
        if (attemptsIn(uncounted) > 0)
          await transaction(db, [countOutcomes(db, webhookId, uncounted, undefined, Date.now())]);
        return { reason, webhook, retryAt: calls.retryAt() };
      }
      await scheduler.wait(pauseMs);
    } else await calls.progress(more);
  }
}

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
  for (const { key, attempt } of outcomes) {
    if (!attempt) continue;
    const { requestId, id: deliveryId, type } = key;
    const { result, status = null, durationMs: ms } = attempt;
    const made = { requestId, deliveryId, type, attempt: key.attempts + 1, status, ms };
    accountId = key.accountId;
    if (result === 'success') delivered.push(made);
    else log({ level: 'info', kind: 'attempt', webhookId, accountId, result, ...made });
  }
  if (delivered.length > 0)
    log({ level: 'info', kind: 'delivered', webhookId, accountId, deliveries: delivered });
}
