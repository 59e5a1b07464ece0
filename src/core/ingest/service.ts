import type { SQL } from 'drizzle-orm';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import type { Caller } from '../platform/db/guard.ts';
import { invalidField, Refusal } from '../platform/errors.ts';
import { largeTransactions, othersAreActive, pauseAfterLarge } from '../platform/fair-queue.ts';
import { partsOf } from '../platform/parts.ts';
import { acceptRecords } from './accept.ts';
import type { Rehearse } from './call.ts';
import { whenOverQuota } from './quotas.ts';
import type { Accepted, IngestOutcome, RecordWarning, WouldNotify } from './schema.ts';
import { doubtsAbout } from './warnings.ts';
import { type Besides, type WrittenRecords, writeRecords } from './write.ts';

/** A larger call waits for other large calls of the account. */
export const fewRecords = 50;

/** How many records are written at a time while other accounts are active. */
const recordsPerPart = 100;

export type IngestCall = {
  records: unknown[];
  notify: boolean;
  dryRun?: boolean;
  /** Whether the records belong to an accident that another call has. */
  isOfAccident?: boolean;
};

/**
 * Stores up to 500 records of a connection in one transaction, and accidents in a second one; while other accounts
 * are active, in several. Work on new deliveries starts after each. A `dryRun` stores nothing.
 * @throws Refusal: unauthenticated, forbidden, invalid, rate limited, unavailable
 */
export async function ingest(
  env: Env,
  caller: Caller,
  source: Source,
  { records, notify, dryRun = false, isOfAccident = false }: IngestCall,
  besides: Besides & { rehearse?: Rehearse },
): Promise<Omit<IngestOutcome, 'warnings'> & { warnings: RecordWarning[] }> {
  const rehearse = dryRun ? (besides.rehearse ?? refuseDryRun()) : undefined;
  const { accepted, rejected, warnings } = acceptRecords(records);
  const hasAccident = isOfAccident || accepted.some(({ record }) => record.kind === 'accident');
  warnings.push(...(besides.evidence?.check(env, accepted) ?? []));
  warnings.push(...doubtsAbout(accepted, records, notify ? source.now : undefined));
  const total: WrittenRecords = { changed: 0, rejected, warnings, heldBack: 0 };
  const wouldNotify: WouldNotify[] = [];
  // With its first part, all of a call is within the quotas, or none of it.
  let refused: SQL | undefined = whenOverQuota(caller.accountId, source.now, hasAccident);
  const write = async (part: Accepted[]) => {
    const options = { notify, refused };
    if (rehearse) wouldNotify.push(...(await rehearse(env, caller, source, part, options, total)));
    else await writeRecords(env, caller, source, part, options, total, besides);
    refused = undefined;
  };
  if (accepted.length <= fewRecords) await write(accepted);
  else {
    const { accountId } = caller;
    const done = await largeTransactions.run(accountId, () =>
      dryRun || !othersAreActive(accountId)
        ? write(accepted)
        : writeInParts(accountId, accepted, write),
    );
    if (!done) throw new Refusal({ kind: 'rate limited', retryAfter: 1 });
  }
  const { changed, heldBack } = total;
  const refusedPlaces = new Set(rejected.map(({ index }) => index));
  return {
    accepted: changed,
    unchanged: records.length - changed - rejected.length,
    rejected: rejected.sort((a, b) => a.index - b.index),
    ...(heldBack > 0 && { heldBack }),
    warnings: warnings.filter(({ index }) => !refusedPlaces.has(index)),
    ...(dryRun && { wouldNotify: wouldNotify.sort((a, b) => a.index - b.index) }),
  };
}

function refuseDryRun(): never {
  throw invalidField('dryRun', 'must be false');
}

/** In parts, those that others refer to first, with pauses, because other accounts are active. */
async function writeInParts(
  accountId: string,
  accepted: Accepted[],
  write: (part: Accepted[]) => Promise<void>,
): Promise<void> {
  const order = ({ record }: Accepted) => kinds.indexOf(record.kind);
  let pauseMs = 0;
  for (const part of partsOf(
    accepted.toSorted((a, b) => order(a) - order(b)),
    recordsPerPart,
  )) {
    await scheduler.wait(pauseMs);
    const began = Date.now();
    await write(part);
    pauseMs = pauseAfterLarge(accountId, Date.now() - began);
  }
}

const kinds: string[] = recordKinds.map(({ kind }) => kind);
