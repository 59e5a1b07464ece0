import crc32 from 'crc-32';
import { base64url, fromBase64url } from '../crypto.ts';
import { invalid, type Refusal } from '../errors.ts';

/** The values of a page's last row in the columns of the list's order; the id is the last. */
export type CursorKeys = readonly (string | number)[];

/** The same for a list ordered by a number and then by id. */
export type Position = { sort: number; id: string };

/** The form of a D1 bookmark with the name of its cell. It must leave room for the rest of a cursor. */
const bookmarkForm = /^[\w:.-]{1,300}$/;

/** Encodes where a page of `list` ends as an opaque cursor; `bookmark`: how much the reader has seen. */
export function encodeCursor(keys: CursorKeys, list: string, bookmark: string | null = null): string {
  const json = JSON.stringify([bookmark, ...keys, crc32.str(JSON.stringify([...keys, list]))]);
  return base64url(new TextEncoder().encode(json));
}

/** Decodes a cursor of this list. The checksum has no key: callers check the number and types of the keys. */
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
  return typeof sort === 'number' && typeof id === 'string' && more.length === 0 ? { sort, id } : undefined;
}

/** The bookmark in a decoded cursor. */
export const bookmarkIn = (cursor: string): string | null => partsOf(cursor).bookmark;

/** @throws Error, if it is not a cursor */
function partsOf(cursor: string): { values: unknown[]; bookmark: string | null } {
  const [bookmark, ...values]: unknown[] = JSON.parse(new TextDecoder().decode(fromBase64url(cursor)));
  if (bookmark === null) return { values, bookmark };
  if (typeof bookmark !== 'string' || !bookmarkForm.test(bookmark)) throw new Error('No bookmark');
  return { values, bookmark };
}

export const listCursor = 'must be the next of a page of this list, with the same connection and filters';

/** The refusal of an invalid cursor; `must` says what it must be. */
export const invalidCursor = (must = listCursor): Refusal =>
  invalid('Invalid cursor', [{ field: 'cursor', message: must }]);
