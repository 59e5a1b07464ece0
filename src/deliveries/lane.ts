import { type Database, openDatabase, transaction } from '../db/database.ts';
import { laneCalls } from './calls.ts';
import { type ClaimedWebhook, claimStatements, readClaim, startWindowMs } from './claim.ts';
import { type ReceiverReport, type Recorded, recordStatements, reportOf } from './record.ts';

/** How a lane ended: nothing was left to claim, its time was up, or the webhook has been deleted. */
export type LaneEnd = {
  reason: 'idle' | 'out of time' | 'webhook gone';
  /** The webhook after the last record. */
  webhook: ClaimedWebhook | undefined;
  /** When the first of the retries that this lane has scheduled is due; undefined if it scheduled none. */
  retryAt: number | undefined;
};

/**
 * Works for one webhook: claims deliveries, calls the receiver, five calls at a time, and records the outcomes in the
 * transaction of the next claim, until a claim comes back empty or it is no longer `inTime` (design 9). `onFull` is
 * called for each claim that leaves work for other lanes.
 *
 * @throws Refusal: unavailable, or whatever D1 throws; claims then lapse, and the sweep wakes what they held
 */
export async function runLane(
  env: Env,
  webhookId: string,
  inTime: () => boolean,
  onFull: (webhook: ClaimedWebhook) => void,
): Promise<LaneEnd> {
  const db = openDatabase(env);
  const calls = laneCalls(env, webhookId);
  let webhook: ClaimedWebhook | undefined;
  for (;;) {
    const now = Date.now();
    const count = inTime() ? calls.room() : 0;
    const outcomes = calls.takeFinished();
    const report = webhook && reportOf(outcomes, webhook);
    const found = await recordAndClaim(db, webhookId, { outcomes, report, count, now });
    webhook = found.webhook;
    if (webhook) {
      calls.start(webhook, found.claimed, now + startWindowMs);
      if (count > 0 && found.claimed.length === count) onFull(webhook);
    }
    if (calls.idle()) {
      const reason = !webhook ? 'webhook gone' : count > 0 ? 'idle' : 'out of time';
      return { reason, webhook, retryAt: calls.retryAt() };
    }
    await calls.progress(inTime());
  }
}

/** One round trip for the outcomes so far and the next claim. */
async function recordAndClaim(
  db: Database,
  webhookId: string,
  next: { outcomes: Recorded[]; report: ReceiverReport | undefined; count: number; now: number },
) {
  const { outcomes, report, count, now } = next;
  const [webhook, claim] = claimStatements(db, webhookId, count, now);
  if (outcomes.length === 0) return readClaim(...(await transaction(db, [webhook, claim])));
  const [counts, record, circuit] = recordStatements(db, webhookId, outcomes, report, now);
  // A claim that D1 does not confirm lapses; recording twice is harmless.
  const statements = [counts, record, circuit, webhook, claim] as const;
  const [, , , rows, claimed] = await transaction(db, statements, { repeatable: true });
  return readClaim(rows, claimed);
}
