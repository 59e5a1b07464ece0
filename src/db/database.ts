import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1';
import { type Failure, invalid, Refusal } from '../errors.ts';

export type Database = DrizzleD1Database & { $client: D1Database };

/**
 * Who asks, as their credential says: trusted only together with the check that `asCaller` makes.
 * `lastUsedAt` is known once that check has passed (0: never used).
 */
export type Caller = ({ tokenId: string; lastUsedAt?: number } | { sessionHash: string }) & {
  accountId: string;
};

/** What a statement can refuse in the middle of a batch, and what becomes of it. */
const refusals = {
  'inactive token': { kind: 'unauthenticated' },
  'suspended account': { kind: 'forbidden' },
  'unknown connections': { kind: 'invalid', message: 'Invalid connection ids' },
  'unknown connection': { kind: 'invalid', message: 'Invalid connection id' },
  'unknown webhook': { kind: 'invalid', message: 'Invalid webhook id' },
  'unknown account': { kind: 'invalid', message: 'Unknown account' },
  'too many webhooks': { kind: 'invalid', message: 'An account can have at most 1000 webhooks' },
} satisfies Record<string, Failure>;
type RefusalWord = keyof typeof refusals;

const opened = new WeakMap<D1Database, Database>();

/** Opens the database, once for each isolate: it holds nothing of a request. */
export function openDatabase(d1: D1Database): Database {
  const known = opened.get(d1);
  if (known) return known;
  const fresh = drizzle(d1);
  opened.set(d1, fresh);
  return fresh;
}

/**
 * A statement in plain SQL, to be run in a batch; `T` is what its rows are. Drizzle 0.45 leaves raw statements
 * unprepared, so that its D1 batch fails over their parameters, and would build their SQL three times.
 */
export function statement<T>(db: Database, query: SQL) {
  const raw = db.all<T>(query);
  const built = raw.getQuery();
  return Object.assign(raw, { stmt: db.$client.prepare(built.sql), getQuery: () => built });
}

/**
 * The same for a statement that writes; it answers D1's result, whose `meta.changes` are the rows it changed.
 * `returning` would tell as much, but each row it returns is read twice more.
 */
export function change(db: Database, query: SQL) {
  const raw = db.run(query);
  const built = raw.getQuery();
  return Object.assign(raw, { stmt: db.$client.prepare(built.sql), getQuery: () => built });
}

/**
 * A statement that lets its batch go on if `condition` holds, and otherwise fails it with `word`, which
 * rolls all of it back. SQLite has no `raise` outside triggers; a bad JSON path is named in the error.
 */
export const only = (db: Database, condition: SQL, word: RefusalWord) =>
  statement(db, sql`select case when ${condition} then 1 else json_extract('{}', ${word}) end`);

/** `values` as one parameter, to be read with `in`. */
export const among = (values: readonly string[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(values)}))`;

/**
 * Runs `statements` as one transaction for `caller`, whose token or session must be active, unexpired and of
 * an active account, or nothing is read or changed (design 4). A `connectionId` that the request names must be the
 * account's. Answers the statements' results.
 *
 * @throws Refusal: unauthenticated, forbidden, invalid, or what an `only` among the statements says
 */
export async function asCaller<const T extends readonly BatchItem<'sqlite'>[]>(
  db: Database,
  caller: Caller,
  statements: T,
  connectionId?: string,
) {
  const credential =
    'tokenId' in caller
      ? sql`select account_id, revoked_at, expires_at, last_used_at from tokens where id = ${caller.tokenId}`
      : sql`select u.account_id, null as revoked_at, s.expires_at, null as last_used_at
          from sessions s join portal_users u on u.id = s.user_id where s.hash = ${caller.sessionHash}`;
  const check = statement<{ lastUsedAt: number }>(
    db,
    sql`
    select case
      when c.account_id is null or c.revoked_at is not null or c.expires_at <= ${Date.now()}
        then json_extract('{}', 'inactive token')
      when a.status <> 'active'
        then json_extract('{}', 'suspended account')
      ${connectionId === undefined ? sql.empty() : sql`when not ${ownConnection(caller, connectionId)} then json_extract('{}', 'unknown connection')`}
      else coalesce(c.last_used_at, 0) end as lastUsedAt
    from (select 1)
    left join (${credential}) c on c.account_id = ${caller.accountId}
    left join accounts a on a.id = c.account_id`,
  );
  const [[found], ...results] = await transaction(db, [check, ...statements] as const);
  if (found && 'tokenId' in caller) caller.lastUsedAt = found.lastUsedAt;
  return results;
}

const ownConnection = (caller: Caller, id: string): SQL =>
  sql`exists (select 1 from connections where id = ${id} and account_id = ${caller.accountId})`;

/**
 * Runs `statements` as one transaction of the service itself.
 *
 * @throws Refusal: what an `only` among the statements says, or unavailable when D1 is overloaded
 */
export async function transaction<const T extends readonly [BatchItem<'sqlite'>, ...BatchItem<'sqlite'>[]]>(
  db: Database,
  statements: T,
) {
  try {
    return await db.batch(statements);
  } catch (error) {
    throw asRefusal(error);
  }
}

/** True when `error` says that a row breaks the unique index on `columns`, written `table.a, table.b`. */
export const breaksUnique = (error: unknown, columns: string): boolean =>
  reason(error).includes(`UNIQUE constraint failed: ${columns}`);

function asRefusal(error: unknown): unknown {
  const text = reason(error);
  const word = /bad JSON path: '([a-z ]+)'/.exec(text)?.[1];
  if (word && word in refusals) {
    const failure = refusals[word as RefusalWord]; // just checked to be one
    return failure.kind === 'invalid' ? invalid(failure.message) : new Refusal(failure);
  }
  if (/overloaded|storage operation exceeded timeout|Network connection lost|reset/i.test(text))
    return new Refusal({ kind: 'unavailable', retryAfter: 2 });
  return error;
}

/** D1's own words: drizzle wraps them, and puts the statement with its values in front. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return error.cause instanceof Error ? `${error.cause.message} ${reason(error.cause)}` : error.message;
}
