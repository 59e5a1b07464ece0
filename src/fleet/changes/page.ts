import type { CursorKeys } from '../../platform/db/cursor.ts';
import type { Action } from './note.ts';

/** A row of `changes`, as it was read: `records` are ids by kind, as JSON. */
export type Noted = { seq: number; connectionId: string; action: Action; records: string };

/** How far somebody has read: to the end of a row, or through some of its records. */
export type Reached = { seq: number; records?: number };

/** One record that changed, and how far reading it gets. */
export type Entry = { kind: string; id: string; connectionId: string; action: Action; reached: Reached };

/** The records that rows name beyond `after`, in their order, of these kinds. */
export function entriesOf(rows: Noted[], after: Reached, kinds: readonly string[]): Entry[] {
  return rows.flatMap(({ seq, connectionId, action, records }) => {
    const byKind: Record<string, string[]> = JSON.parse(records); // as `note.ts` writes them
    const all = Object.entries(byKind).flatMap(([kind, ids]) => ids.map((id) => ({ kind, id })));
    const read = seq === after.seq ? (after.records ?? all.length) : 0;
    return all
      .map((record, at): Entry => {
        const isLast = at === all.length - 1;
        return { ...record, connectionId, action, reached: isLast ? { seq } : { seq, records: at + 1 } };
      })
      .slice(read)
      .filter(({ kind }) => kinds.includes(kind));
  });
}

/** What becomes of a record within a page, and how far reading had got before it first came. */
export type Collapsed = Omit<Entry, 'reached'> & { before: Reached };

/**
 * Takes each record once, where it first comes, with its latest state; at most `limit`. `end` is how
 * far that gets, if there are entries beyond.
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

/** How far somebody has read, as cursors have it. */
export const keysOf = ({ seq, records }: Reached): CursorKeys =>
  records === undefined ? [seq] : [seq, records];

/** How far the keys of a cursor are; undefined for those of another list. */
export function reachedAt([seq, records, ...more]: CursorKeys): Reached | undefined {
  if (typeof seq !== 'number' || typeof records === 'string' || more.length > 0) return undefined;
  return { seq, ...(records !== undefined && { records }) };
}
