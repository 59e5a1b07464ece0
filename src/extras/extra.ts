import type { SQL, SQLWrapper } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Hono } from 'hono';
import type { Connection, NewConnection } from '../core/fleet/connections.ts';
import type { Reads } from '../core/fleet/service.ts';
import type { BesidesCall } from '../core/ingest/call.ts';
import type { Database, Statement, Statements } from '../core/platform/db/database.ts';
import type { Caller, Reader } from '../core/platform/db/guard.ts';
import type { deletions } from '../core/platform/db/schema/jobs.ts';
import type { App } from '../core/platform/http/context.ts';
import type { Jobs, Starters } from '../core/platform/jobs/jobs.ts';
import type { Pages } from '../ui/added.ts';
import type { Owner } from './owner-of.ts';

/**
 * What an extra adds to the service, where it meets the core. Each declares it in its `extra.ts`, whose first line names
 * the extras that it needs, as in `// Needs: archive, search`. `src/extras.ts` lists them all.
 */
export type Extra = {
  /** Routes of the client API. They come before the core's. */
  routes?: Hono<App>;
  /** Routes below `/operator` that are no operations, behind the operators' key. */
  operatorRoutes?: Hono<App>;
  /** What it adds to the portal's pages. */
  pages?: Pages;
  /** How lists and their items are read, instead of from D1 alone. */
  reads?: Reads;
  /** Who reads lists for a caller, perhaps elsewhere; `isNewest` asks for the newest data. */
  reader?: (
    env: Env,
    isNewest: boolean,
    behind: (work: Promise<unknown>) => void,
  ) => Reader | undefined;
  /** What else a call of a connector does. */
  ingest?: BesidesCall;
  /** Handlers of messages of the queue, by the property that such a message has, each of its value, with what bounds it. */
  messages?: { [property: string]: (env: Env, value: never) => Promise<void> };
  /** What the cron does itself each minute. */
  starters?: Starters;
  /** Jobs, of which each says what bounds it, as in `src/operator/jobs.ts`. */
  jobs?: Jobs | ((declared: Declared) => Jobs);
  /** Its tables, by the column that leads to an account: see `src/operator/deletion/owners.ts`. */
  tables?: SQLiteColumn[];
  /** What it does when an account, a connection or a driver is deleted, besides its tables' rows of an account. */
  deletion?: {
    account?: Steps & { last?: StatementsOf };
    connection?: Steps & { first?: StatementsOf };
    driver?: Steps;
    /** Deletes what belongs to a driver's rows of a kind before the archive forgets the driver. */
    archived?: Erasing;
  };
  /** What it does when an account moves to another cell, besides its tables' rows. */
  move?: {
    /** The account's folders in the bucket. */
    folders?: (accountId: string) => string[];
    /** Statements that go with copied rows of a table, and with the account's start in its new cell. */
    copied?: (db: Database, accountId: string, table: string) => Statements;
    arrived?: StatementsOf;
  };
  /** What only one account of a cell can have. */
  unique?: Unique;
  /** Handlers of its operations of the operators' API, which `src/operator/api/extras.ts` names. */
  handlers?: { [operation: string]: (asked: never) => Promise<unknown> };
  /** What the ids in paths of these operations identify, by the list that begins the path. */
  owners?: { [list: string]: Owner };
  /** Adds a connection that an operator wants, with a message for them, if the input is for it: the first extra does. */
  connect?: (
    env: Env,
    caller: Caller,
    input: NewConnection,
  ) => Promise<(Connection & { warning: string | null }) | undefined>;
  /** The fields that it adds to accounts as operators see them: usual ones, and others by the accounts' ids. */
  accountFields?: {
    usual: object;
    find: (env: Env, ids: string[]) => Promise<Map<string, object>>;
  };
  /** Does its part of what an operator changes of an account. */
  changeAccount?: (env: Env, caller: Caller, change: object) => Promise<void>;
  /** Statements that go with adding a person, and with changing or removing one. */
  people?: {
    added?: (db: Database, caller: Caller) => Statements;
    changed?: (db: Database, caller: Caller, userId: string) => Statements;
  };
  /** SQL for whether a day since 1970 of an account's records may go to the archive; undefined if any may. */
  mayArchive?: (kind: string, accountId: SQL, day: SQL) => SQL | undefined;
  /** SQL for whether nobody is notified of accidents of the connection `c`. */
  isUncovered?: (env: Env) => SQL;
  /** SQL for whether its accidents are expected, so that this is a problem. */
  needsCover?: SQL;
  /** SQL for how many safety events an account had on a day since 1970, UTC; null for none. */
  eventsOn?: (db: Database, accountId: SQLWrapper, day: number) => SQLWrapper;
  /** The accounts that are being moved from here, at most 20, for operators. */
  unfinishedMoves?: (db: Database, now: number) => Statement<UnfinishedMove[]>;
  /** Metrics for operators. */
  metrics?: {
    /** What each is, by its name. */
    about: { [metric: string]: string };
    /** Measures them in one row. */
    measure: (db: Database, now: number) => Statement<{ [metric: string]: number }[]>;
  };
  /** The columns that it encrypts of each table, with the id that they are bound to. */
  encrypted?: Encrypted[];
};

/** What the extras declare of one thing, those that have it. */
export type Declared = <Part extends keyof Extra>(part: Part) => NonNullable<Extra[Part]>[];

type StatementsOf = (db: Database, id: string) => Statements;

/** Steps of a deletion: before and after the core's of the rows, records or references. They have the extra's name. */
type Steps = { before?: Step; after?: Step };

export type Deletion = typeof deletions.$inferSelect;

/** Does one bounded chunk of a step. Returns the next one's cursor; undefined when done. */
export type Step = (env: Env, deletion: Deletion, archived: Erasing) => Promise<string | undefined>;

/** Returns undefined when nothing is left. */
export type Erasing = (
  env: Env,
  accountId: string,
  kind: string,
  rows: { [column: string]: unknown }[],
) => Promise<string | undefined>;

type Unique = {
  /** As SQLite names it: `table.column`. */
  column: string;
  /** The values that an account has, and one of them that another account has here. */
  find: (env: Env, accountId: string) => Promise<string[]>;
  findTaken: (env: Env, accountId: string, values: string[]) => Promise<string | undefined>;
  /** Says in which cell another account has a value, and what to do. */
  problem: (cell: string, value: string) => string;
};

type UnfinishedMove = {
  accountId: string;
  account: string;
  to: string;
  state: string;
  since: number;
  isOverdue: boolean;
};

export type Encrypted = { table: SQLiteTable; id: SQLiteColumn; columns: SQLiteColumn[] };
