import * as v from 'valibot';
import { decodePosition, encodePosition } from '../db/cursor.ts';
import type { SliceQuery } from '../db/slices.ts';
import { invalid } from '../errors.ts';
import { limitUpTo, parse } from '../fields.ts';
import { CursorText } from '../query.ts';
import type { Context } from './context.ts';

/** How many items a slice of an operators' list has at most, and by default. */
export const maxSlice = 1000;

const Query = v.object({
  cursor: CursorText,
  limit: v.optional(limitUpTo(maxSlice), String(maxSlice)),
});

/**
 * The part of a list that the request's `cursor` and `limit` ask for; `pageSize` items where people cannot choose.
 *
 * @throws Refusal: invalid
 */
export function requestedSlice(c: Context, pageSize?: number): SliceQuery {
  const { cursor, limit } = parse(Query, c.req.query());
  return { limit: pageSize ?? limit, ...(cursor !== undefined && { after: positionIn(c, cursor) }) };
}

/** The cursor for a position of the list at this path. */
export const cursorFor = (c: Context, position: { sort: number; id: string }): string =>
  encodePosition(position, c.req.path);

function positionIn(c: Context, cursor: string) {
  const position = decodePosition(cursor, c.req.path);
  if (!position) throw invalid('Invalid cursor');
  return position;
}
