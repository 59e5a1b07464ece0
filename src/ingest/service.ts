import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import type { Database } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { Refusal } from '../platform/errors.ts';
import { largeTransactions, othersAreActive, pauseAfterLarge } from '../platform/fair-queue.ts';
import type { NewWork } from '../webhooks/deliveries/send/first-claim.ts';
import { type Accepted, acceptRecords } from './accept.ts';
import { batchesOf } from './batches.ts';
import { doubtsAbout } from './doubts.ts';
import type { Outcome, RecordWarning } from './schema.ts';
import { type Step, stepsFor, type Tally } from './steps.ts';

/** A larger call waits for other large calls of the account. */
export const fewRecords = 50;

/** How many records are written at a time while other accounts are active. */
const recordsPerPart = 100;

/**
 * Stores up to 500 records of one connection, with their notifications and deliveries, in one transaction; while other
 * accounts are active, in several, each of which may be repeated. With `notify: false` nobody is notified, now or
 * later. Returns the refused records, and what could not be used of accepted ones; `start` gets the new deliveries after
 * each transaction, since a later one may fail.
 *
 * @throws Refusal: unauthenticated, forbidden, rate limited, unavailable
 */
export async function ingest(
  env: Env,
  caller: Caller,
  source: Source,
  { records, notify }: { records: unknown[]; notify: boolean },
  start: Starter,
): Promise<Omit<Outcome, 'warnings'> & { warnings: RecordWarning[] }> {
  const { accepted, rejected, warnings } = acceptRecords(records);
  warnings.push(...doubtsAbout(accepted, records, notify ? source.now : undefined));
  const tally: Tally = { changed: 0, rejected, warnings, heldBack: 0, messages: [] };
  /** Writes records in one transaction, and adds the result to the tally. */
  const write = async (part: Accepted[], claims = false) => {
    const batches = batchesOf(source, part);
    let steps: Step[] = [];
    const statements = (db: Database) => {
      steps = stepsFor(db, source, batches, { notify, claims }, tally);
      return steps.map(({ statement }) => statement);
    };
    const results = await asCaller(env, caller, statements, { repeatable: true });
    for (const [at, { take }] of steps.entries()) take(results[at]);
    start(tally.messages.splice(0));
  };
  // A call that waits first would hold its claim for too long to use it.
  if (accepted.length <= fewRecords) await write(accepted, start.mayBegin === true);
  else {
    const { accountId } = caller;
    const done = await largeTransactions.run(accountId, () => writeLargeCall(accountId, accepted, write));
    if (!done) throw new Refusal({ kind: 'rate limited', retryAfter: 1 });
  }
  const refused = new Set(rejected.map(({ index }) => index));
  return {
    accepted: tally.changed,
    unchanged: records.length - tally.changed - rejected.length,
    rejected: rejected.sort((a, b) => a.index - b.index),
    ...(tally.heldBack > 0 && { heldBack: tally.heldBack }),
    warnings: warnings.filter(({ index }) => !refused.has(index)),
  };
}

/** Starts work on new deliveries; `mayBegin` if it starts one webhook's itself. */
export type Starter = ((messages: NewWork[]) => void) & { mayBegin?: boolean };

/** At once if no other account is active, otherwise in parts with pauses. */
async function writeLargeCall(
  accountId: string,
  accepted: Accepted[],
  write: (part: Accepted[]) => Promise<void>,
): Promise<void> {
  if (!othersAreActive(accountId)) return write(accepted);
  let pauseMs = 0;
  for (const part of partsOf(accepted)) {
    await scheduler.wait(pauseMs);
    const began = Date.now();
    await write(part);
    pauseMs = pauseAfterLarge(accountId, Date.now() - began);
  }
}

const kinds: string[] = recordKinds.map(({ kind }) => kind);

/** The records in parts, those that others refer to first. */
function partsOf(accepted: Accepted[]): Accepted[][] {
  const place = ({ record }: Accepted) => kinds.indexOf(record.kind);
  const sorted = accepted.toSorted((a, b) => place(a) - place(b));
  return Array.from({ length: Math.ceil(sorted.length / recordsPerPart) }, (_, i) =>
    sorted.slice(i * recordsPerPart, (i + 1) * recordsPerPart),
  );
}
