import type { Hono } from 'hono';
import { findItem } from '../core/fleet/find.ts';
import type { List } from '../core/fleet/lists/list.ts';
import type { ReadPage, Reads } from '../core/fleet/service.ts';
import type { Caller } from '../core/platform/db/guard.ts';
import { readPage } from '../core/platform/db/pages.ts';
import { type App, by, type Context } from '../core/platform/http/context.ts';
import type { IsEnded } from './read/attention.ts';

/** What an extra adds to the portal's pages. It declares it in its `pages`. */
export type Pages = {
  /** Its routes below `/portal`, for people who are signed in. They come before the portal's own. */
  routes?: Hono<App>;
  /** Its tabs of the settings. */
  tabs?: Tab[];
  /** Finds vehicles and drivers by what is typed into filters. */
  matchFleet?: (env: Env, caller: Caller, typed: Typed) => Promise<Matched>;
  /** Whether the health of a connection needs no attention any more. */
  isEnded?: IsEnded;
};

/** A page of the settings. */
export type Tab = { href: string; name: string };

declare module 'hono' {
  interface ContextVariableMap {
    /** What the extras add to pages. */
    added?: Pages[];
    /** How lists are read, instead of from D1 alone. */
    reads?: Reads | undefined;
  }
}

/** What the extras add of one thing, those that have it. */
export const added = <Part extends keyof Pages>(
  c: Context,
  part: Part,
): NonNullable<Pages[Part]>[] =>
  (c.get('added') ?? []).flatMap(({ [part]: found }) => (found === undefined ? [] : [found]));

const readsOf = (c: Context): Reads => c.get('reads') ?? { readPage, findItem };

/** Who reads a list, and how. */
export const reading = (c: Context): [Env, Caller, ReadPage] => [...by(c), readsOf(c).readPage];

/** An item of a list by its id; the time in a link to it finds an older one, too. */
export const findListed = async <T>(
  c: Context,
  list: List<T>,
  id: string,
  at?: number,
): Promise<T | undefined> => (await readsOf(c).findItem(...by(c), list, id, at)) as T | undefined; // as this list presents it

/** What people type to find vehicles and drivers; an id comes from a link. */
export type Typed = { vehicle?: string; vin?: string; driver?: string };

/** The matches, at most `maxMatches`; undefined for what was not typed. */
export type Matched = { vehicles?: Match[]; drivers?: Match[] };
export type Match = { id: string; name: string };

export const maxMatches = 100;

/** What matches everything typed. */
export const matched = async (c: Context, typed: Typed): Promise<Matched> => {
  const [matchFleet] = added(c, 'matchFleet');
  return (await matchFleet?.(...by(c), typed)) ?? {};
};
