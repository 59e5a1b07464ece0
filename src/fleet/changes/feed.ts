import { decodePlace, encodePlace, invalidCursor } from '../../platform/db/cursor.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { mayLag } from '../../platform/db/replica-reads.ts';
import { invalid } from '../../platform/errors.ts';
import { parse } from '../../platform/fields.ts';
import { collapse, entriesOf, placeOf, type Reached, reachedAt } from './page.ts';
import { keptMs } from './prune.ts';
import { covered, lastScanned, selectLatest, selectRows } from './rows.ts';
import { type Change, ChangesQuery, changeKinds, expiredCursor, feedCursor } from './schema.ts';
import { withState } from './state.ts';

/** The cursor of what is still to come, for clients that list everything first. */
const now = 'now';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** What a client asks the feed for: the Connection-Id header, and the query with each parameter's values. */
export type FeedRequest = { connectionId: string | undefined; query: Record<string, string[]> };

/** A page of the feed. `resume` is the cursor to come back with; `next` is the same, if there is more already. */
export type FeedPage = { items: Change[]; next?: string; resume: string };

/**
 * Reads what changed after a cursor, or in the last 30 days, in the order in which the service learned it.
 * Of several changes of a record a page has one, with its current state. A page is short, with a next one, when it
 * has covered `maxRows`, when the filters have let too few of `maxScanned` rows pass, or when it would exceed
 * `maxPageBytes`.
 *
 * @throws Refusal: invalid, naming the parameter; unauthenticated; forbidden
 */
export async function readChanges(
  env: Env,
  caller: Caller,
  { connectionId, query }: FeedRequest,
): Promise<FeedPage> {
  const { limit, cursor, kinds } = parse(ChangesQuery, query);
  const identity = JSON.stringify(['/changes', caller.accountId, connectionId, kinds]);
  const cursorAt = (reached: Reached) => encodePlace(placeOf(reached), identity);
  const after = startOf(cursor, identity);

  const [[latest], rows] = await asCaller(
    env,
    caller,
    (db) => [selectLatest(db, caller), selectRows(db, caller, after, { connectionId, kinds })],
    { connectionId, repeatable: true },
  );
  if (cursor === now) {
    const upTo = upToNow(latest?.seq);
    // Whoever lists everything next is told again what the replica that they read may not have had.
    return { items: [], resume: cursorAt(mayLag(caller) ? { seq: upTo.seq - hourMs } : upTo) };
  }

  const { records, end } = collapse(entriesOf(covered(rows), after, kinds ?? changeKinds), after, limit);
  const { items, cut } = await withState(env, caller, records);
  const reached = cut ?? end ?? lastScanned(rows);
  const resume = cursorAt(reached ?? upToNow(latest?.seq));
  return { items, ...(reached && { next: resume }), resume };
}

/**
 * Where to begin. Without a cursor that is an hour after the oldest change that a cursor may lead to, so that it does
 * not expire while somebody reads on from there.
 */
function startOf(cursor: string | undefined, identity: string): Reached {
  const oldest = Date.now() - keptMs;
  if (cursor === undefined || cursor === now) return { seq: oldest + hourMs };
  const place = decodePlace(cursor, identity);
  const reached = place && reachedAt(place);
  if (!reached) throw invalidCursor(feedCursor);
  if (reached.seq < oldest)
    throw invalid(expiredCursor.message, [{ field: 'cursor', message: expiredCursor.must }]);
  return reached;
}

/**
 * How far a client has got that has read everything: to the last row, or to yesterday if that is later, so that its
 * cursor does not expire while nothing happens. Not to now: a transaction may commit with an earlier time, for the
 * clocks of two machines differ, though not by a day.
 */
const upToNow = (latest: number | undefined): Reached => ({ seq: Math.max(latest ?? 0, Date.now() - dayMs) });
