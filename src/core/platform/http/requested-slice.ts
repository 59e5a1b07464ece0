import * as v from 'valibot';
import { decodePosition, encodePosition, type SliceQuery } from '../db/cursor.ts';
import { invalid } from '../errors.ts';
import { limitUpTo, parseQuery } from '../fields.ts';
import { CursorText } from '../query.ts';
import type { Context } from './context.ts';

export const maxSlice = 1000;

export const SliceParameters = v.object({
  cursor: CursorText,
  limit: v.optional(limitUpTo(maxSlice), String(maxSlice)),
});

/** The part of a list that `cursor` and `limit` ask for. @throws Refusal: invalid */
export function requestedSlice(c: Context, pageSize?: number): SliceQuery {
  const { cursor, limit } = parseQuery(SliceParameters, {
    cursor: c.req.query('cursor'),
    limit: c.req.query('limit'),
  });
  return {
    limit: pageSize ?? limit,
    ...(cursor !== undefined && { after: positionIn(c, cursor) }),
  };
}

/** The cursor for a position of the list at this path. */
export const cursorFor = (c: Context, position: { sort: number; id: string }): string =>
  encodePosition(position, c.req.path);

function positionIn(c: Context, cursor: string) {
  const position = decodePosition(cursor, c.req.path);
  if (!position) throw invalid('Invalid cursor');
  return position;
}
