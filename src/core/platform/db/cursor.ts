import crc32 from 'crc-32';
import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { base64url, fromBase64url } from '../crypto.ts';
import { invalid, type Refusal } from '../errors.ts';
import { beyond } from './database.ts';

/** The values of a page's last row in the columns of the list's order; the id is the last. */
export type CursorKeys = readonly (string | number)[];

/** A position in a list that is ordered by a number and then by id. */
export type Position = { sort: number; id: string };

/** The form of a D1 bookmark with the name of its cell. It leaves room for the rest of a cursor. */
const bookmarkForm = /^[\w:.-]{1,300}$/;

/** Encodes where a page of `list` ends as an opaque cursor; `bookmark`: how much the reader has seen. */
export function encodeCursor(
  keys: CursorKeys,
  list: string,
  bookmark: string | null = null,
): string {
  const json = JSON.stringify([bookmark, ...keys, crc32.str(JSON.stringify([...keys, list]))]);
  return base64url(new TextEncoder().encode(json));
}

/** Decodes a cursor of this list, whose keys callers must check. */
export function decodeCursor(cursor: string, list: string): CursorKeys | undefined {
  try {
    const { values, bookmark } = partsOf(cursor);
    const keys = values
      .slice(0, -1)
      .filter((value) => typeof value === 'string' || typeof value === 'number');
    // Comparing the whole text also refuses other spellings of the same values, and other types.
    return encodeCursor(keys, list, bookmark) === cursor ? keys : undefined;
  } catch {
    return undefined;
  }
}

/** Encodes a position in the same way. */
export const encodePosition = ({ sort, id }: Position, list: string, bookmark?: string): string =>
  encodeCursor([sort, id], list, bookmark);

export function decodePosition(cursor: string, list: string): Position | undefined {
  const [sort, id, ...more] = decodeCursor(cursor, list) ?? [];
  return typeof sort === 'number' && typeof id === 'string' && more.length === 0
    ? { sort, id }
    : undefined;
}

/** The bookmark in a decoded cursor. */
export const bookmarkIn = (cursor: string): string | null => partsOf(cursor).bookmark;

/** @throws Error, if it is not a cursor */
function partsOf(cursor: string): { values: unknown[]; bookmark: string | null } {
  const [bookmark, ...values]: unknown[] = JSON.parse(
    new TextDecoder().decode(fromBase64url(cursor)),
  );
  if (bookmark === null) return { values, bookmark };
  if (typeof bookmark !== 'string' || !bookmarkForm.test(bookmark)) throw new Error('No bookmark');
  return { values, bookmark };
}

export const listCursor =
  'must be the next of a page of this list, with the same connection and filters';

/** The refusal of an invalid cursor; `must` says what it must be. */
export const invalidCursor = (must = listCursor): Refusal =>
  invalid('Invalid cursor', [{ field: 'cursor', message: must }]);

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
  after &&
  sql`(${createdAt}, ${id}) ${beyond(order === 'newest first')} (${after.sort}, ${after.id})`;

/** Cuts a slice from rows of which one more than `limit` was read; `position` is that of a row in the list. */
export function cutSlice<T>(
  rows: T[],
  { limit }: SliceQuery,
  position: (row: T) => Position,
): Slice<T> {
  const items = rows.slice(0, limit);
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, ...(last && { next: position(last) }) };
}

/** Cuts a slice of a list in the order of creation. */
export const sliceOf = <T extends { createdAt: number; id: string }>(
  rows: T[],
  slice: SliceQuery,
): Slice<T> => cutSlice(rows, slice, ({ createdAt, id }) => ({ sort: createdAt, id }));
