import { sql } from 'drizzle-orm';
import { statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { candidates, idRanges, isReplayable, ownWebhook, type ReplaySelection } from './replayable.ts';

/**
 * How many deliveries a replay sends again. With `more`, only the first 10,000 of the selection have been looked at.
 * `tooOld` counts those that it leaves out because of their age; 10,000 means that many or more.
 */
export type ReplayCount = { count: number; more: boolean; tooOld: number };

/** How many deliveries a count looks at, of those that can be replayed and of those that are too old. */
export const maxReplayCounted = 10_000;

/** How many of them a transaction looks at, so that nobody waits long for D1. */
const perChunk = 2500;

/**
 * Counts what `replay` would send again of one of the account's webhooks.
 *
 * @throws Refusal: invalid, for an empty time span; unauthenticated, forbidden, unavailable
 */
export async function countReplayable(
  env: Env,
  caller: Caller,
  webhookId: string,
  selection: ReplaySelection,
): Promise<ReplayCount> {
  const whose = ownWebhook(caller, webhookId);
  let { ids, tooOld } = idRanges(env, selection, Date.now());
  const counted = { count: 0, more: true, tooOld: 0 };
  for (let looked = 0; counted.more && looked < maxReplayCounted; looked += perChunk) {
    const [[first], [old]] = await asCaller(
      env,
      caller,
      (db) => [
        statement<{ looked: number; count: number; last: string | null }>(
          db,
          sql`select count(*) as looked, coalesce(sum(${isReplayable}), 0) as count, max(id) as last
            from (${candidates(whose, ids, perChunk)}) d`,
        ),
        statement<{ count: number }>(
          db,
          looked > 0
            ? sql`select 0 as count`
            : sql`select coalesce(sum(status <> 'pending'), 0) as count
                from (${candidates(whose, tooOld, maxReplayCounted)})`,
        ),
      ],
      { repeatable: true },
    );
    counted.count += first?.count ?? 0;
    counted.tooOld += old?.count ?? 0;
    counted.more = first?.looked === perChunk;
    ids = { ...ids, from: first?.last ?? ids.from };
  }
  return counted;
}
