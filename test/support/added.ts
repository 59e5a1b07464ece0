import type { receiver } from './receiver.ts';
import type { World } from './world.ts';

/**
 * What an extra adds to tests that walk all routes, tables and pages. It declares it beside its own tests, in
 * `test/extras/NAME/added.ts`.
 */
export type Added = {
  /** A body that each of its routes takes, where `{}` is none. */
  bodies?: Bodies;
  /** What its routes need to be asked with. */
  requests?: { [route: string]: { query?: string; headers?: Record<string, string> } };
  /** Its routes that need more than this service. */
  apart?: string[];
  /** Its routes for callers who sign what they send. */
  signed?: string[];
  /** Its routes of the portal for people who are not signed in. */
  open?: string[];
  /** Its tables without rows of accounts. */
  ofTheService?: string[];
  /** Its tables in which accounts have rows only while something is under way. */
  underWay?: string[];
  /** What rows of a full account hold where it matters, by their table: none of them is to be pruned or worked on. */
  contents?: (us: World) => { [table: string]: Row };
  /** Gives a full account what others refer to, or what is in no table. `usual` are ids for its rows. */
  fill?: (us: World, usual: Row) => Promise<unknown>;
  /** Leaves what an account has while something is under way, with `mark` in it. */
  leaveWork?: (us: World, mark: string) => Promise<unknown>;
  /** Puts something called `mark` behind its pages. Returns the ids in their paths, by their list or parameter. */
  mark?: (account: MarkedAccount) => Promise<Ids>;
};

export type Bodies = { [route: string]: (us: World) => object };
type Row = Record<string, unknown>;
export type Ids = { [list: string]: string };

/** An account with something called `mark` behind every page of the core's. */
type MarkedAccount = {
  mark: string;
  us: World;
  hooks: ReturnType<typeof receiver>;
  /** Its admin, who is signed in. */
  admin: { id: string; post: (path: string, fields: Record<string, string>) => unknown };
  ids: Ids;
};

const files = import.meta.glob<{ added: Added }>('../extras/*/added.ts', { eager: true });

/** What all extras add. */
export const added = Object.values(files).map((file) => file.added);
