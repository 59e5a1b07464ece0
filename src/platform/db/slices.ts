import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Position } from './cursor.ts';
import { beyond } from './sql.ts';

/** Which part of a list to read: from its beginning or after a position, at most `limit` items. */
export type SliceQuery = { after?: Position | undefined; limit: number };

/** Part of a list in the order of creation, and where the next one starts, if there is more. */
export type Slice<T> = { items: T[]; next?: Position };

/** The condition that a row comes after the slice's position, in the order of creation or its reverse. */
export const following = (
  { createdAt, id }: { createdAt: SQLiteColumn; id: SQLiteColumn },
  { after }: SliceQuery,
  order: 'oldest first' | 'newest first' = 'oldest first',
): SQL | undefined =>
  after && sql`(${createdAt}, ${id}) ${beyond(order === 'newest first')} (${after.sort}, ${after.id})`;

/** Cuts a slice from rows of which one more than `limit` was read; `position` is that of a row in the list. */
export function cutSlice<T>(rows: T[], { limit }: SliceQuery, position: (row: T) => Position): Slice<T> {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, ...(last && { next: position(last) }) };
}

/** Cuts a slice of a list in the order of creation. */
export const sliceOf = <T extends { createdAt: number; id: string }>(
  rows: T[],
  slice: SliceQuery,
): Slice<T> => cutSlice(rows, slice, ({ createdAt, id }) => ({ sort: createdAt, id }));
