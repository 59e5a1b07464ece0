import { type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import { decodeCursor, encodeCursor } from '../db/cursor.ts';
import { jsonList } from '../db/database.ts';
import type { Caller } from '../db/guard.ts';
import { type ListTable, type PageQuery, readPage } from '../db/pages.ts';
import { invalid } from '../errors.ts';
import { parse } from '../fields.ts';
import type { List } from './lists.ts';
import { Limit, Text, Time } from './query.ts';

/** What a client asks a list for: the Connection-Id header, and the query with each parameter's values. */
export type ListRequest = {
  connectionId: string | undefined;
  query: Record<string, string[]>;
  /** Newest first, as the portal shows them. */
  descending?: boolean;
};

/** More ids than this in a filter are looked for in the list's own order, not one by one. */
const mostStreams = 10;

/**
 * Reads one page of a list (spec 8.1, design 7). Answers its items and the cursor of the next page, if any.
 *
 * @throws Refusal: invalid, naming the parameter; unauthenticated; forbidden
 */
export async function readList<T extends ListTable>(
  env: Env,
  caller: Caller,
  list: List<T>,
  { connectionId, query, descending = false }: ListRequest,
): Promise<{ items: object[]; next?: string }> {
  const schemas = Object.fromEntries(
    Object.entries(list.filters).map(([name, { schema }]) => [name, schema]),
  );
  const { limit, cursor, from, to, ...values } = parse(
    v.object({ limit: Limit, cursor: v.optional(Text), ...ranges[list.range], ...schemas }),
    query,
  );
  const range = asRange(from, to);
  const identity = JSON.stringify([list.path, caller.accountId, connectionId, range, values, descending]);
  const after = cursor === undefined ? undefined : decodeCursor(cursor, identity);
  if (cursor !== undefined && !after)
    throw invalid('Invalid cursor', [{ field: 'cursor', message: 'must be the next of this very list' }]);

  const page = await readPage(env, caller, {
    table: list.table,
    sort: list.sort,
    limit,
    descending,
    ...range,
    ...(after && { after }),
    ...(connectionId && { connectionId }),
    ...narrowed(list, caller, connectionId, values),
  });
  return {
    items: page.rows.map(list.present),
    ...(page.next && { next: encodeCursor(page.next, identity) }),
  };
}

const ignored = v.optional(
  v.pipe(
    v.unknown(),
    v.transform(() => undefined),
  ),
);
const ranges = {
  none: { from: ignored, to: ignored },
  optional: { from: v.optional(Time), to: v.optional(Time) },
  required: { from: Time, to: Time },
};

function asRange(from: unknown, to: unknown): { from?: number; to?: number } {
  if (typeof from === 'number' && typeof to === 'number' && from >= to)
    throw invalid('from must be before to', [{ field: 'from', message: 'must be before to' }]);
  return { ...(typeof from === 'number' && { from }), ...(typeof to === 'number' && { to }) };
}

/** Chooses the index to read by: that of an id filter, else the connection's, else the account's. */
function narrowed<T extends ListTable>(
  list: List<T>,
  caller: Caller,
  connectionId: string | undefined,
  values: Record<string, unknown>,
): Pick<PageQuery<T>, 'lead' | 'scope' | 'filters'> {
  const filters: SQL[] = [];
  const leads: PageQuery<T>['lead'][] = [];
  for (const [name, filter] of Object.entries(list.filters)) {
    const value = values[name];
    if (value === undefined) continue;
    if (!('lead' in filter))
      filters.push(filter.where(value as never)); // as its own schema has parsed it
    else if ((value as string[]).length > mostStreams || leads.length > 0)
      filters.push(sql`${filter.lead} in ${jsonList(value as string[])}`);
    else leads.push({ column: filter.lead, values: value as string[] });
  }
  const account = { column: list.table.accountId, values: [caller.accountId] };
  const connection = connectionId && { column: list.connection, values: [connectionId] };
  const lead = leads[0] ?? (connection || account);
  // A plus before a column keeps its index out of the choice: the lead's is the one to use.
  const scope = [account, ...(connection ? [connection] : [])]
    .filter(({ column }) => column !== lead.column)
    .map(({ column, values }) => sql`+${column} = ${values[0]}`);
  return { lead, scope, filters };
}
