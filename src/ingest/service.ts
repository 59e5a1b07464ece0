import { asCaller, type Caller } from '../db/guard.ts';
import { type QueueMessage, wakeOf } from '../deliveries/queue.ts';
import type { Source } from '../fleet/record.ts';
import { acceptRecords } from './accept.ts';
import { batchesOf } from './batches.ts';
import type { Outcome } from './schema.ts';
import { type Step, stepsFor, type Tally } from './steps.ts';

/**
 * Takes in up to 500 records of one connection as one transaction, with the notifications and deliveries that follow
 * from them (design 8). Records are refused one by one. With `notify: false` nobody is told, now or later. Returns
 * what became of the records, and the messages to send for the new deliveries.
 *
 * @throws Refusal: unauthenticated, forbidden, unavailable
 */
export async function ingest(
  env: Env,
  caller: Caller,
  source: Source,
  { records, notify }: { records: unknown[]; notify: boolean },
): Promise<{ outcome: Outcome; messages: QueueMessage[] }> {
  const { accepted, rejected } = acceptRecords(records);
  const batches = batchesOf(source, accepted);
  const tally: Tally = { changed: 0, rejected, woken: [], fanOuts: [] };
  let steps: Step[] = [];
  const results = await asCaller(
    env,
    caller,
    (db) => {
      steps = stepsFor(db, source, batches, notify, tally);
      return steps.map(({ statement }) => statement);
    },
    { repeatable: true },
  );
  for (const [at, { take }] of steps.entries()) take(results[at]);
  return {
    outcome: {
      accepted: tally.changed,
      unchanged: records.length - tally.changed - rejected.length,
      rejected: rejected.sort((a, b) => a.index - b.index),
    },
    messages: [...wakeOf(source.accountId, tally.woken), ...tally.fanOuts.map((id) => ({ fanOut: id }))],
  };
}
