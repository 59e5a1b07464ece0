import type { Window } from '../connector.ts';
import { msOf } from '../read.ts';
import type { Query } from './api.ts';

export const dayMs = 86_400_000;

/** The UTC day of a time, as its first millisecond. */
export const dayOf = (ms: number): number => Math.floor(ms / dayMs) * dayMs;

/**
 * The days from one to another, both included. Motive cuts times off; and whether an event is listed under its day in
 * UTC or in the company's time zone is not known of all lists, so ask for a day more on either side.
 */
export const days = (first: number, last: number): Query => ({
  start_date: new Date(first).toISOString().slice(0, 10),
  end_date: new Date(last).toISOString().slice(0, 10),
});

/** All days on which Motive may list what began in a window. */
export const daysAround = ({ from, to }: Window): Query => days(from - dayMs, to + dayMs);

/** When an item began, in milliseconds since 1970; NaN if it does not say. */
export const startOf = (item: unknown): number => msOf((item as { start_time?: unknown } | null)?.start_time); // whatever it is

/** Whether an item began in a window. One that does not say when is let through, to be refused with a reason. */
export const beganIn =
  ({ from, to }: Window) =>
  (item: unknown): boolean => {
    const ms = startOf(item);
    return Number.isNaN(ms) || (ms >= from && ms < to);
  };

/**
 * Where the reading of a list over many days stands: at which stretch of days, from the newest, and at which page of it.
 * A whole reading has all stretches down to the day of its beginning.
 */
export type Place = { stretch: number; page: number };
export const firstPlace: Place = { stretch: 0, page: 1 };

/** The days of one call: wide ones take Motive long, and it refuses more than 30 of driving periods. */
const daysPerStretch = 14;

/** The days of a stretch, and whether older ones are left before `first`, the day on which the reading ends. */
export function stretchOf({ stretch }: Place, { first, last }: { first: number; last: number }) {
  const end = last - stretch * daysPerStretch * dayMs;
  const begin = Math.max(first, end - (daysPerStretch - 1) * dayMs);
  return { query: days(begin, end), isLast: begin <= first };
}

/** The place after a page; undefined at the end. */
export const nextPlace = (
  { stretch, page }: Place,
  { more, isLast }: { more: boolean; isLast: boolean },
): Place | undefined =>
  more ? { stretch, page: page + 1 } : isLast ? undefined : { stretch: stretch + 1, page: 1 };
