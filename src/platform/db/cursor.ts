import crc32 from 'crc-32';
import { base64url, fromBase64url } from '../crypto/encoding.ts';
import { invalid, type Refusal } from '../errors.ts';

/** Where a page ends: what its last row has in each column of the list's order, of which the id is the last. */
export type Place = readonly (string | number)[];

/** The place of a row in a list that is in order of a number, and then of the id. */
export type Position = { sort: number; id: string };

const version = 1;

/** A cursor of this version also carries a bookmark, in front of its place. */
const versionWithBookmark = 2;

/** What a bookmark of D1 may look like, with the name of its home: a cursor of any list still has room for it. */
const bookmarkForm = /^[\w:.-]{1,300}$/;

/** Encodes a position as an opaque cursor. `list` and `bookmark` are what `encodePlace` takes. */
export const encodeCursor = ({ sort, id }: Position, list: string, bookmark?: string): string =>
  encodePlace([sort, id], list, bookmark);

/** Decodes a cursor; undefined for anything that `encodeCursor` did not encode for this very list. */
export function decodeCursor(cursor: string, list: string): Position | undefined {
  const [sort, id, ...more] = decodePlace(cursor, list) ?? [];
  return typeof sort === 'number' && typeof id === 'string' && more.length === 0 ? { sort, id } : undefined;
}

/**
 * Encodes a place as an opaque cursor. `list` identifies the list it belongs to: path, account, connection and
 * filters. A checksum over both ties them together. A `bookmark` says how much of the database the reader has seen.
 */
export function encodePlace(place: Place, list: string, bookmark?: string): string {
  const head = bookmark === undefined ? [version] : [versionWithBookmark, bookmark];
  const json = JSON.stringify([...head, ...place, crc32.str(JSON.stringify([...place, list]))]);
  return base64url(new TextEncoder().encode(json));
}

/**
 * Decodes a cursor; undefined for anything that `encodePlace` did not encode for this very list. A checksum keeps no
 * secret: whoever reads the place still has to look at how many values it has, and of which types.
 */
export function decodePlace(cursor: string, list: string): Place | undefined {
  try {
    const { values, bookmark } = partsOf(cursor);
    const place = values
      .slice(0, -1)
      .filter((value) => typeof value === 'string' || typeof value === 'number');
    // Comparing the whole text also refuses other spellings of the same values, and values of other types.
    return encodePlace(place, list, bookmark) === cursor ? place : undefined;
  } catch {
    return undefined;
  }
}

/** The bookmark in a cursor that `decodePlace` or `decodeCursor` has decoded. */
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
