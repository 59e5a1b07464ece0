import type { Json } from '../connector.ts';
import { iso, type Query } from './api.ts';

/**
 * Where the passes of a list stand. Terminal lists by when it took something in, and by nothing else at the same time: a
 * pass asks for what it has taken in since the last one began, and for everything while `from` is null.
 */
export type Passes = { from: number | null; wholeAt: number; pass: Pass | null };
export type Pass = { beganAt: number; isWhole: boolean; after: Json };

/** Passes overlap by this: clocks differ. */
const overlapMs = 60_000;

/** The time moves in steps, so that minutes in which nothing happens cost no write. */
const stepMs = 10 * 60_000;

const dayMs = 86_400_000;

export const passesFrom = (from: number | null): Passes => ({ from, wholeAt: 0, pass: null });

/** The pass that is going on, or a new one; with `isDaily` one a day is for everything. */
export function beginPass({ from, wholeAt, pass }: Passes, now: number, { isDaily = false } = {}): Pass {
  const isWhole = from === null || (isDaily && now - wholeAt >= dayMs);
  return pass ?? { beganAt: now, isWhole, after: null };
}

export const changedSince = ({ from }: Passes, { isWhole }: Pass): Query =>
  from === null || isWhole ? {} : { modifiedAfter: iso(from) };

/** Where the passes stand after a page; `next` is the cursor of the one after it. */
export function afterPage({ from, wholeAt }: Passes, pass: Pass, next: string | null): Passes {
  if (next !== null) return { from, wholeAt, pass: { ...pass, after: next } };
  const isLate = from === null || pass.beganAt - from > stepMs;
  return {
    from: isLate ? pass.beganAt - overlapMs : from,
    wholeAt: pass.isWhole ? pass.beganAt : wholeAt,
    pass: null,
  };
}
