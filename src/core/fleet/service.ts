import { and, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { validate as isUuid } from 'uuid';
import * as v from 'valibot';
import { decodePosition, encodePosition, invalidCursor } from '../platform/db/cursor.ts';
import { jsonList } from '../platform/db/database.ts';
import { type Caller, isWithin } from '../platform/db/guard.ts';
import { connectionIds, type Hidden, type Page, type PageQuery } from '../platform/db/pages.ts';
import { bookmarkOf, continueFrom } from '../platform/db/reads.ts';
import { invalid } from '../platform/errors.ts';
import { parseQuery } from '../platform/fields.ts';
import { Limit, QueryCursor, QueryTime, rangeOf } from '../platform/query.ts';
import { isSeenBy } from './accidents/vehicle.ts';
import type { Within } from './lists/filters.ts';
import { allConnections, type List, mustBeConnection } from './lists/list.ts';

/** A request for a list: the Connection-Id header, and the query with each parameter's values. */
export type ListRequest = {
  /** Without one, a list that requires it reads all the account's connections: for the portal, and for `all`. */
  connectionId: string | undefined;
  query: Record<string, string[]>;
  descending?: boolean;
};

/** A page of a list: what D1 is asked, and what the list was asked. */
export type ListQuery = PageQuery & {
  list: List;
  /** The index range of all rows of the account or the connection. */
  all: PageQuery['lead'];
  /** The values of the list's filters. */
  values: { [parameter: string]: unknown };
};

/** How a page of a list is read: `readPage` reads D1, others also know rows that D1 no longer has. */
export type ReadPage = (env: Env, caller: Caller, query: ListQuery) => Promise<Page>;

/** How lists are read, and items by id: in D1, or also where older ones are, which `at` finds. */
export type Reads = {
  readPage: ReadPage;
  findItem: (env: Env, caller: Caller, list: List, id: string, at?: number) => Promise<unknown>;
};

/** Reads one page of a list. Returns its items and the cursor of the next page, if there is one. */
export async function readList<T>(
  env: Env,
  caller: Caller,
  list: List<T>,
  { connectionId, query, descending = false }: ListRequest,
  readPage: ReadPage,
): Promise<{ items: T[]; next?: string }> {
  const { limit, cursor, ...narrowing } = parseQuery(querySchema(list), query);
  const { from, to, ...values }: { [parameter: string]: unknown } = narrowing;
  const range = rangeOf(from, to);
  const identity = JSON.stringify([
    list.path,
    caller.accountId,
    connectionId,
    range,
    values,
    descending,
  ]);
  const after = cursor === undefined ? undefined : decodePosition(cursor, identity);
  if (cursor !== undefined && !after) throw invalidCursor();

  continueFrom(env, caller, cursor);
  const { table, columns, id, order, also } = list;
  const page = await readPage(env, caller, {
    ...{ table, columns, id, order, also, limit, descending, after, connectionId },
    hidden: hiddenFrom(caller, list),
    ...range,
    ...narrowed(list, caller, connectionId, values),
    ...{ list, values },
  });
  return {
    items: page.rows.map(list.present),
    ...(page.next && { next: encodePosition(page.next, identity, bookmarkOf(env, caller)) }),
  };
}

/** The connection in a Connection-Id header, undefined for all of them. @throws Refusal: invalid */
export function connectionIdOf(header: string | undefined, required = false): string | undefined {
  const id = header?.trim().toLowerCase();
  if (!id) {
    if (required)
      throw invalid('Connection-Id header is required', [
        { field: 'Connection-Id', message: 'is required' },
      ]);
    return undefined;
  }
  if (id === allConnections) return undefined;
  if (!isUuid(id))
    throw invalid('Invalid connection id', [{ field: 'Connection-Id', message: mustBeConnection }]);
  return id;
}

/** What a list hides from a caller: vehicles of connections that they may not see. */
export function hiddenFrom(caller: Caller, { ofVehicle: keys, columns }: List): Hidden | undefined {
  const unless = keys.length > 0 ? isSeenBy(caller, sql`${columns.vehicleId}`) : undefined;
  return unless && { keys, unless };
}

const querySchema = ({ range, filters }: List) =>
  v.object({
    limit: Limit,
    cursor: QueryCursor,
    ...ranges[range ?? 'none'],
    ...Object.fromEntries(
      Object.entries(filters).map(([name, { query }]) => [name, v.optional(query)]),
    ),
  });

const ranges = {
  none: {},
  optional: { from: v.optional(QueryTime), to: v.optional(QueryTime) },
  required: { from: QueryTime, to: QueryTime },
};

/** Chooses the index: that of a filter, else of the connection, each connection, or the account. */
function narrowed(
  list: List,
  caller: Caller,
  connectionId: string | undefined,
  values: Record<string, unknown>,
): Pick<PageQuery, 'lead' | 'scope' | 'filters'> & { all: PageQuery['lead'] } {
  const filters: SQL[] = [];
  let indexed: { lead: PageQuery['lead']; ofAccount: boolean } | undefined;
  for (const [name, { column, where, ofAccount = false }] of Object.entries(list.filters)) {
    const value = values[name];
    if (value === undefined) continue;
    const wanted = value as string[]; // as its own schema has parsed it, unless it has a condition
    if (where)
      filters.push(where(column, value as never, isSeen(caller))); // as above
    else if (indexed) filters.push(sql`${column} in ${jsonList(wanted)}`);
    else indexed = { lead: leadOf(column, wanted), ofAccount };
  }
  const account = { column: list.table.accountId, value: caller.accountId };
  const connection = connectionId ? { column: list.connection, value: connectionId } : undefined;
  const within = connectionId ? undefined : isWithin(caller, sql`+${list.connection}`);
  // Such a list has no index by account, which would cost a row for each record.
  const connections = (list.connectionRequired || within) && {
    column: list.connection,
    values: connectionIds(caller),
  };
  const all = connection || connections || account;
  const lead = indexed?.lead ?? all;
  if (lead === connections) return { lead, all, scope: [], filters };
  // A plus before a column excludes its index: the lead's is the one to use.
  const scope = [account, ...(connection ? [connection] : [])]
    .filter(({ column }) => column !== lead.column)
    .map(({ column, value }) =>
      indexed?.ofAccount && column === account.column
        ? sql`${column} = ${value}`
        : sql`+${column} = ${value}`,
    );
  return { lead, all, scope: within ? [...scope, within] : scope, filters };
}

/** The `+` keeps SQLite from finding rows by the index on the account instead of the filter's. */
const isSeen =
  (caller: Caller): Within =>
  ({ accountId, connectionId }) =>
    and(sql`+${accountId} = ${caller.accountId}`, isWithin(caller, connectionId));

const leadOf = (column: SQLiteColumn, [value = '', ...more]: string[]): PageQuery['lead'] =>
  more.length === 0
    ? { column, value }
    : {
        column,
        values: jsonList([...new Set([value, ...more])]),
      };
