import { dayMs } from '../platform/durations.ts';
import type { Feed, Json, Page } from './connector.ts';

/**
 * A reading of a whole list, page by page: for what has changed since `from` (milliseconds since 1970), or for
 * everything if it `isWhole`. `place` is where it stands, null at its beginning.
 */
export type Pass = { from: number; beganAt: number; isWhole: boolean; place: Json };

/** Where the passes of a list stand, and what its feed wants to be kept beside. */
type Passes<Kept> = { from: number; wholeAt: number; pass: Omit<Pass, 'from'> | null; kept?: Kept };

type ListFeed<Api, Kept> = Pick<Feed<Api>, 'everyMinutes' | 'history'> & {
  /** Passes overlap by this: clocks differ, and providers take time to write. */
  overlapMs: number;
  /** A page of a pass. `kept` is what the page before it has kept. */
  read(api: Api, pass: Pass, kept: Kept | undefined): Promise<Page & { kept?: Kept }>;
};

/** The time moves in steps, so that minutes in which nothing happens cost no write. */
const stepMs = 10 * 60_000;

/**
 * A feed that reads its list in passes. Each asks for what has changed since the last one began, and once a day for
 * everything, in case a change was missed. With a history, the first begins where the connection was made.
 */
export const inPasses = <Api, Kept = never>({
  everyMinutes,
  overlapMs,
  read,
  history,
}: ListFeed<Api, Kept>): Feed<Api> => ({
  everyMinutes,
  async changes(api, cursor, since) {
    const begin: Passes<Kept> = { from: history ? since - overlapMs : 0, wholeAt: since, pass: null };
    const { from, wholeAt, ...standing } = (cursor as Passes<Kept> | null) ?? begin;
    const now = Date.now();
    const isWhole = from === 0 || now - wholeAt >= dayMs;
    const pass = standing.pass ?? { beganAt: now, isWhole, place: null };
    const { next, kept, ...found } = await read(api, { from, ...pass }, standing.kept);
    const isLate = pass.beganAt - from > stepMs;
    const after =
      next === undefined
        ? {
            from: isLate ? pass.beganAt - overlapMs : from,
            wholeAt: pass.isWhole ? pass.beganAt : wholeAt,
            pass: null,
          }
        : { from, wholeAt, pass: { ...pass, place: next } };
    const standingAfter: Passes<Kept> = { ...after, ...(kept !== undefined && { kept }) };
    return { ...found, cursor: standingAfter as Json, more: next !== undefined }; // plain values throughout
  },
  restart: (cursor) => ({ ...(cursor as { [name: string]: Json }), pass: null }), // as `changes` has written it
  ...(history && { history }),
});

/** The time since which a pass asks for changes, as RFC 3339; undefined if it asks for everything. */
export const changedSince = ({ from, isWhole }: Pass): string | undefined =>
  isWhole ? undefined : new Date(from).toISOString();
