import * as v from 'valibot';
import { decodePosition, encodePosition } from '../db/cursor.ts';
import type { SliceQuery } from '../db/slices.ts';
import { invalid } from '../errors.ts';
import { limitUpTo, parse } from '../fields.ts';
import { CursorText } from '../query.ts';
import type { Context } from './context.ts';

/** How many items a slice of an operators' list has at most, and unless `limit` says less. */
export const maxSlice = 1000;

const Query = v.object({
  cursor: CursorText,
  limit: v.optional(limitUpTo(maxSlice), String(maxSlice)),
});

/**
 * Which part of a list the request's `cursor` and `limit` ask for; `pageSize` items where pages do not let people choose.
 *
 * @throws Refusal: invalid
 */
export function requestedSlice(c: Context, pageSize?: number): SliceQuery {
  const { cursor, limit } = parse(Query, c.req.query());
  return { limit: pageSize ?? limit, ...(cursor !== undefined && { after: positionIn(c, cursor) }) };
}

/** The cursor that leads on from a position of the list at this path. */
export const cursorFor = (c: Context, position: { sort: number; id: string }): string =>
  encodePosition(position, c.req.path);

function positionIn(c: Context, cursor: string) {
  const position = decodePosition(cursor, c.req.path);
  if (!position) throw invalid('Invalid cursor');
  return position;
}
