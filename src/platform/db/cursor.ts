import crc32 from 'crc-32';
import { base64url, fromBase64url } from '../crypto.ts';
import { invalid, type Refusal } from '../errors.ts';

/** What a page's last row has in each column of the list's order, of which the id is the last. */
export type CursorKeys = readonly (string | number)[];

/** The same of a list that is in order of a number, and then of the id. */
export type Position = { sort: number; id: string };

const version = 1;

/** A cursor of this version also carries a bookmark, in front of its keys. */
const versionWithBookmark = 2;

/** What a bookmark of D1 may look like, with the name of its home: a cursor of any list still has room for it. */
const bookmarkForm = /^[\w:.-]{1,300}$/;

/**
 * Encodes where a page ends as an opaque cursor. `list` identifies the list it belongs to: path, account, connection and
 * filters. A checksum over both ties them together. A `bookmark` says how much of the database the reader has seen.
 */
export function encodeCursor(keys: CursorKeys, list: string, bookmark?: string): string {
  const head = bookmark === undefined ? [version] : [versionWithBookmark, bookmark];
  const json = JSON.stringify([...head, ...keys, crc32.str(JSON.stringify([...keys, list]))]);
  return base64url(new TextEncoder().encode(json));
}

/**
 * Decodes a cursor; undefined for anything that `encodeCursor` did not encode for this very list. A checksum keeps no
 * secret: whoever reads the keys still has to look at how many there are, and of which types.
 */
export function decodeCursor(cursor: string, list: string): CursorKeys | undefined {
  try {
    const { values, bookmark } = partsOf(cursor);
    const keys = values
      .slice(0, -1)
      .filter((value) => typeof value === 'string' || typeof value === 'number');
    // Comparing the whole text also refuses other spellings of the same values, and values of other types.
    return encodeCursor(keys, list, bookmark) === cursor ? keys : undefined;
  } catch {
    return undefined;
  }
}

/** The same for a position. */
export const encodePosition = ({ sort, id }: Position, list: string, bookmark?: string): string =>
  encodeCursor([sort, id], list, bookmark);

export function decodePosition(cursor: string, list: string): Position | undefined {
  const [sort, id, ...more] = decodeCursor(cursor, list) ?? [];
  return typeof sort === 'number' && typeof id === 'string' && more.length === 0 ? { sort, id } : undefined;
}

/** The bookmark in a cursor that has been decoded. */
export const bookmarkIn = (cursor: string): string | undefined => partsOf(cursor).bookmark;

/** @throws Error for what is no cursor */
function partsOf(cursor: string): { values: unknown[]; bookmark?: string } {
  const [kind, ...values]: unknown[] = JSON.parse(new TextDecoder().decode(fromBase64url(cursor)));
  if (kind !== versionWithBookmark) return { values };
  const [bookmark, ...rest] = values;
  if (typeof bookmark !== 'string' || !bookmarkForm.test(bookmark)) throw new Error('No bookmark');
  return { values: rest, bookmark };
}

/** What the cursor of a list must be. */
export const listCursor = 'must be the next of a page of this list, with the same connection and filters';

/** The refusal of a cursor that leads nowhere: `must` says what it has to be. */
export const invalidCursor = (must = listCursor): Refusal =>
  invalid('Invalid cursor', [{ field: 'cursor', message: must }]);
