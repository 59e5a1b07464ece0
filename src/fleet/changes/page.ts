import type { CursorKeys } from '../../platform/db/cursor.ts';
import type { Action } from '../note-changes.ts';

/** A row of `changes`: `records` are ids by kind, as JSON. */
export type Noted = {
  seq: number;
  connectionId: string;
  action: Action;
  records: string;
  /** Where the archive has them, if it has: days since 1970. */
  day: number | null;
};

/** How far a client has read: to the end of a row, or through some of its records. */
export type Reached = { seq: number; records?: number };

/** A changed record, and the position after it. */
export type Entry = Pick<Noted, 'connectionId' | 'action' | 'day'> & {
  kind: string;
  id: string;
  reached: Reached;
};

/** The changed records of these kinds in rows after `after`, in order. */
export function entriesOf(rows: Noted[], after: Reached, kinds: readonly string[]): Entry[] {
  return rows.flatMap(({ seq, records, ...noted }) => {
    const byKind: Record<string, string[]> = JSON.parse(records); // as `note.ts` writes them
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
export type Collapsed = Omit<Entry, 'reached'> & { before: Reached };

/**
 * Reduces entries to one per record, at its first place with its last action; at most `limit`. `end` is the position
 * reached, if there are entries beyond.
 */
export function collapse(
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

export const keysOf = ({ seq, records }: Reached): CursorKeys =>
  records === undefined ? [seq] : [seq, records];

/** The position in a cursor's keys; undefined for those of another list. */
export function reachedAt([seq, records, ...more]: CursorKeys): Reached | undefined {
  if (typeof seq !== 'number' || typeof records === 'string' || more.length > 0) return undefined;
  return { seq, ...(records !== undefined && { records }) };
}
