import { dayMs } from '../../../core/platform/durations.ts';
import type { Feed, Json, Page, ProviderRecord } from './connector.ts';

/** A reading of a whole list: changes since `from`, or everything. `position` is its progress. */
export type Pass = {
  from: number;
  since: number;
  beganAt: number;
  isWhole: boolean;
  position: Json;
};

type Passes<Kept> = {
  from: number;
  wholeAt: number;
  pass: Omit<Pass, 'from' | 'since'> | null;
  kept?: Kept;
};

type ListFeed<Api, Kept> = Pick<Feed<Api>, 'everyMinutes' | 'history'> & {
  /** How much passes overlap, because clocks differ and writes take time. */
  overlapMs: number;
  /** How often everything is read; once a day by default. */
  wholeMs?: number;
  /** A page of a pass. `kept` is what the previous page has kept. */
  read(api: Api, pass: Pass, kept: Kept | undefined): Promise<Page & { kept?: Kept }>;
};

/** `from` advances in steps, so that quiet minutes cost no write. */
const stepMs = 10 * 60_000;

/** A feed read in passes: each reads the changes since the last one began, and once a day everything. */
export const inPasses = <Api, Kept = never>({
  everyMinutes,
  overlapMs,
  wholeMs = dayMs,
  read,
  history,
}: ListFeed<Api, Kept>): Feed<Api> => ({
  everyMinutes,
  async changes(api, cursor, since) {
    const begin: Passes<Kept> = {
      from: history ? since - overlapMs : 0,
      wholeAt: since,
      pass: null,
    };
    const { wholeAt, ...standing } = (cursor as Passes<Kept> | null) ?? begin;
    const now = Date.now();
    // Of a clock that was ahead: changes since the real time have not been read.
    const wasAhead = wholeAt > now;
    const from = Math.min(standing.from, now - overlapMs);
    const isWhole = from === 0 || wasAhead || now - wholeAt >= wholeMs;
    const pass = standing.pass ?? { beganAt: now, isWhole, position: null };
    const { next, kept, ...found } = await read(api, { from, since, ...pass }, standing.kept);
    const isLate = pass.beganAt - from > stepMs;
    const after =
      next === undefined
        ? {
            from: isLate ? pass.beganAt - overlapMs : from,
            wholeAt: pass.isWhole ? pass.beganAt : wholeAt,
            pass: null,
          }
        : { from, wholeAt, pass: { ...pass, position: next } };
    const standingAfter: Passes<Kept> = { ...after, ...(kept !== undefined && { kept }) };
    return { ...found, cursor: standingAfter as Json, more: next !== undefined }; // plain values throughout
  },
  restart: (cursor) => ({ ...(cursor as { [name: string]: Json }), pass: null }), // as `changes` has written it
  ...(history && { history }),
});

/** The time since which a pass reads changes, as RFC 3339; undefined if it reads everything. */
export const changedSince = ({ from, isWhole }: Pass): string | undefined =>
  isWhole ? undefined : new Date(from).toISOString();

/** A feed of a short list, such as vehicles, from its pages: of what has changed, and daily of everything. */
export const listFeed = <Api>(
  overlapMs: number,
  page: (api: Api, pass: Pass) => Promise<{ items: unknown[]; next: Json | undefined }>,
  records: (items: unknown[], api: Api) => ProviderRecord[] | Promise<ProviderRecord[]>,
): Feed<Api> =>
  inPasses({
    everyMinutes: 15,
    overlapMs,
    async read(api, pass) {
      const { items, next } = await page(api, pass);
      return { records: await records(items, api), next };
    },
  });
