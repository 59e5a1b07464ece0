import crc32 from 'crc-32';
import { base64url, fromBase64url } from '../encoding.ts';

/** Where a page ends: the sort value of its last row, and that row's id. */
export type Position = { sort: number; id: string };

const version = 1;

/**
 * Encodes a position as an opaque cursor. `list` identifies the list it belongs to: path, account, connection and
 * filters. A checksum over both ties them together.
 */
export function encodeCursor(position: Position, list: string): string {
  const json = JSON.stringify([version, position.sort, position.id, checksum(position, list)]);
  return base64url(new TextEncoder().encode(json));
}

/** Decodes a cursor; undefined for anything that `encodeCursor` did not encode for this very list. */
export function decodeCursor(cursor: string, list: string): Position | undefined {
  try {
    const bytes = fromBase64url(cursor);
    const [, sort, id]: unknown[] = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof sort !== 'number' || typeof id !== 'string') return undefined;
    // Comparing the whole text also refuses other spellings of the same values.
    return encodeCursor({ sort, id }, list) === cursor ? { sort, id } : undefined;
  } catch {
    return undefined;
  }
}

const checksum = ({ sort, id }: Position, list: string): number =>
  crc32.str(JSON.stringify([sort, id, list]));
