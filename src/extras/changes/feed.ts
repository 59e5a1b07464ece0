import { and, eq, sql } from 'drizzle-orm';
import { selectByIds } from '../../core/fleet/find.ts';
import { type List, shownOf } from '../../core/fleet/lists/list.ts';
import { lists } from '../../core/fleet/lists/registry.ts';
import { type Action, keptMs } from '../../core/fleet/record-changes.ts';
import {
  type CursorKeys,
  decodeCursor,
  encodeCursor,
  invalidCursor,
} from '../../core/platform/db/cursor.ts';
import { type Database, jsonList } from '../../core/platform/db/database.ts';
import { asCaller, type Caller, isWithin } from '../../core/platform/db/guard.ts';
import { cutScan, fitting, scan, sizeOf } from '../../core/platform/db/pages.ts';
import { mayBeStale } from '../../core/platform/db/reads.ts';
import { changes } from '../../core/platform/db/schema/fleet.ts';
import { dayMs, hourMs } from '../../core/platform/durations.ts';
import { invalid } from '../../core/platform/errors.ts';
import { parseQuery } from '../../core/platform/fields.ts';
import { findArchived } from '../archive/find.ts';
import { type Change, ChangesQuery, changeKinds, expiredCursor, feedCursor } from './schema.ts';

/** The cursor of future changes, for clients that list everything first. */
const now = 'now';

/** How many rows a page covers at most: each is a call of `/ingest`, or a part of one. */
export const maxRows = 100;

/** A page of the feed. `resume` is the next cursor, and `next` too if there is more now. */
type FeedPage = { items: Change[]; next?: string; resume: string };

/**
 * Reads the changes after a cursor, or of the last 30 days; each record once, as it is now. A page
 * is short after `maxRows`, when few of `maxScanned` rows pass its filters, or at `maxPageBytes`.
 */
export async function readChanges(
  env: Env,
  caller: Caller,
  { connectionId, query }: { connectionId: string | undefined; query: Record<string, string[]> },
): Promise<FeedPage> {
  const { limit, cursor, kinds } = parseQuery(ChangesQuery, query);
  const identity = JSON.stringify(['/changes', caller.accountId, connectionId, kinds]);
  const cursorAt = (reached: Reached) => encodeCursor(keysOf(reached), identity);
  const after = startOf(cursor, identity);

  const select = (db: Database) => ({
    latest: selectLatest(db, caller),
    rows: selectRows(db, caller, after, { connectionId, kinds }),
  });
  const { latest, rows } = await asCaller(env, caller, select, { connectionId });
  const upTo = upToNow(latest[0]?.seq);
  if (cursor === now) {
    // A client that lists everything next gets again what its replica may have lacked.
    return {
      items: [],
      resume: cursorAt(mayBeStale(caller) ? { seq: upTo.seq - hourMs } : upTo),
    };
  }

  const covered = cutScan(rows, maxRows);
  const { records, end } = collapse(
    entriesOf(covered.page, after, kinds ?? changeKinds),
    after,
    limit,
  );
  const { items, cut } = await withState(env, caller, records);
  const reached = cut ?? end ?? (covered.end && { seq: covered.end.seq });
  const resume = cursorAt(reached ?? upTo);
  return { items, ...(reached && { next: resume }), resume };
}

/** Where to begin. Not with the oldest: its cursor would expire while it is used. */
function startOf(cursor: string | undefined, identity: string): Reached {
  const oldest = Date.now() - keptMs;
  if (cursor === undefined || cursor === now) return { seq: oldest + hourMs };
  const keys = decodeCursor(cursor, identity);
  const reached = keys && reachedAt(keys);
  if (!reached) throw invalidCursor(feedCursor);
  if (reached.seq < oldest)
    throw invalid(expiredCursor.message, [{ field: 'cursor', message: expiredCursor.must }]);
  return reached;
}

/** How far a client has come that has read everything: at least to yesterday, so that cursors last. */
const upToNow = (latest: number | undefined): Reached => ({
  seq: Math.max(latest ?? 0, Date.now() - dayMs),
});

/** When something of the account last changed; 0: not within 30 days. */
export async function findLatest(env: Env, caller: Caller): Promise<number> {
  const found = await asCaller(env, caller, (db) => selectLatest(db, caller));
  return found[0]?.seq ?? 0;
}

const selectLatest = (db: Database, { accountId }: Caller) =>
  db
    .select({ seq: sql<number>`coalesce(max(${changes.seq}), 0)`.as('seq') })
    .from(changes)
    .where(eq(changes.accountId, accountId));

type Filters = { connectionId: string | undefined; kinds: string[] | undefined };

const selectRows = (
  db: Database,
  caller: Caller,
  after: Reached,
  { connectionId, kinds }: Filters,
) => {
  const beyond = after.records === undefined ? sql`>` : sql`>=`;
  // A page, which is scanned as those of lists are.
  return scan<Noted>(db, {
    columns: sql`seq, connection_id as "connectionId", action, records, archived_day as "day"`,
    source: sql`changes where account_id = ${caller.accountId} and seq ${beyond} ${after.seq}`,
    order: sql`order by seq`,
    passes: and(
      connectionId === undefined
        ? isWithin(caller, sql`connection_id`)
        : sql`connection_id = ${connectionId}`,
      kinds &&
        sql`exists (select 1 from json_each(records) where key in ${jsonList(kinds)} and value <> '[]')`,
    ),
    limit: maxRows,
  });
};

/** A row of `changes`: `records` are ids by kind, as JSON. */
type Noted = {
  seq: number;
  connectionId: string;
  action: Action;
  records: string;
  /** Where the archive has them, if it has: days since 1970. */
  day: number | null;
};

/** How far a client has read: to the end of a row, or through some of its records. */
type Reached = { seq: number; records?: number };

type Entry = Pick<Noted, 'connectionId' | 'action' | 'day'> & {
  kind: string;
  id: string;
  reached: Reached;
};

/** The changed records of these kinds in rows after `after`, in order. */
function entriesOf(rows: Noted[], after: Reached, kinds: readonly string[]): Entry[] {
  return rows.flatMap(({ seq, records, ...noted }) => {
    const byKind: Record<string, string[]> = JSON.parse(records); // as `record-changes.ts` writes them
    const all = Object.entries(byKind).flatMap(([kind, ids]) => ids.map((id) => ({ kind, id })));
    const read = seq === after.seq ? (after.records ?? all.length) : 0;
    return all
      .map((record, at): Entry => {
        const isLast = at === all.length - 1;
        return { ...record, ...noted, reached: isLast ? { seq } : { seq, records: at + 1 } };
      })
      .slice(read)
      .filter(({ kind }) => kinds.includes(kind));
  });
}

/** A record's last action within a page, and the position before its first one. */
type Collapsed = Omit<Entry, 'reached'> & { before: Reached };

/** Reduces entries to `limit` records, each once. `end`: the position, if there are more. */
function collapse(
  entries: Entry[],
  after: Reached,
  limit: number,
): { records: Collapsed[]; end?: Reached } {
  const records = new Map<string, Collapsed>();
  let before = after;
  for (const { reached, ...entry } of entries) {
    const key = `${entry.kind} ${entry.id}`;
    const known = records.get(key);
    if (!known && records.size === limit) return { records: [...records.values()], end: before };
    records.set(key, { ...entry, before: known?.before ?? before });
    before = reached;
  }
  return { records: [...records.values()] };
}

const keysOf = ({ seq, records }: Reached): CursorKeys =>
  records === undefined ? [seq] : [seq, records];

/** The position in a cursor's keys; undefined for those of another list. */
function reachedAt([seq, records, ...more]: CursorKeys): Reached | undefined {
  if (typeof seq !== 'number' || typeof records === 'string' || more.length > 0) return undefined;
  return { seq, ...(records !== undefined && { records }) };
}

/** The approximate bytes of a feed's item beside its data, as JSON. */
const bytesAround = 200;

/**
 * Adds the current state of records. A missing one is left out until its deletion, and an archived one until
 * the row that says where it is. `cut`: how far this gets if the page would become too large.
 */
async function withState(
  env: Env,
  caller: Caller,
  records: Collapsed[],
): Promise<{ items: Change[]; cut?: Reached }> {
  const current = await readCurrent(env, caller, records);
  const sized = records.map((record) => {
    const found = current.get(record.id);
    return { record, data: found?.item ?? null, size: bytesAround + (found?.size ?? 0) };
  });
  const page = sized.slice(0, fitting(sized));
  const cut = sized[page.length]?.record.before;
  const items = page.flatMap(({ record, data }): Change[] => {
    const { kind, id, connectionId, action } = record;
    if (data === null && action === 'changed') return [];
    return [{ kind, id, connectionId, action: data === null ? 'deleted' : 'changed', data }];
  });
  return { items, ...(cut && { cut }) };
}

async function readCurrent(
  env: Env,
  caller: Caller,
  records: Collapsed[],
): Promise<Map<string, SizedItem>> {
  const wanted = lists
    .map(({ kind, list }) => ({ list, ofKind: records.filter((record) => record.kind === kind) }))
    .filter(({ ofKind }) => ofKind.length > 0);
  const known = new Map<string, SizedItem>();
  if (wanted.length === 0) return known;
  const found = await asCaller(env, caller, (db) =>
    wanted.map(({ list, ofKind }) => {
      const ids = ofKind.map(({ id }) => id);
      return selectByIds(db, caller, list, ids);
    }),
  );
  for (const [at, { list, ofKind }] of wanted.entries()) {
    const keep = (row: { [key: string]: unknown }) => {
      const item = presentSized(list, row);
      known.set(item.id, item);
    };
    found[at]?.forEach(keep);
    if (!list.archive) continue;
    const missing = ofKind.flatMap(({ day, ...record }) =>
      day !== null && !known.has(record.id) ? [{ ...record, day }] : [],
    );
    const archived = await findArchived(env, caller, list.archive, missing);
    for (const row of archived) keep(shownOf(list, row));
  }
  return known;
}

/** An item as its list shows it, and its size as JSON. */
type SizedItem = { id: string; item: unknown; size: number };

const presentSized = (list: List, row: { [key: string]: unknown }): SizedItem => ({
  id: String(row[list.id]),
  size: sizeOf(row),
  item: list.present(row),
});
