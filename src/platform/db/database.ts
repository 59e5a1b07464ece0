import { type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1';
import { type Failure, Refusal } from '../errors.ts';
import { d1Reason, isRead, retrying, withRetries } from './retry.ts';

export type Database = DrizzleD1Database & { $client: D1Database };

/** Opens a D1 session for one request. Its reads may run on a replica. */
export const openSession = (session: D1DatabaseSession): Database => drizzle(retrying(session));

/** A statement in plain SQL for a batch: ``statement<Row>(db)`select …` ``. `T` is the type of its rows. */
export const statement =
  <T>(db: Database) =>
  (strings: TemplateStringsArray, ...values: unknown[]) =>
    prepared(db, db.all<T>(sql(strings, ...values)));

/**
 * The same for a statement that writes. Its result is D1's, with the number of changed rows in `meta.changes`.
 * `returning` would have each returned row read twice more.
 */
export const change =
  (db: Database) =>
  (strings: TemplateStringsArray, ...values: unknown[]) =>
    prepared(db, db.run(sql(strings, ...values)));
export type Change = ReturnType<ReturnType<typeof change>>;

/**
 * Drizzle 0.45 leaves raw statements unprepared: its D1 batch fails over their parameters, and it would build their SQL
 * three times.
 */
function prepared<S extends { getQuery(): { sql: string } }>(db: Database, raw: S) {
  const built = raw.getQuery();
  return Object.assign(raw, { stmt: db.$client.prepare(built.sql), getQuery: () => built });
}

/** The failures by which a statement can roll back its batch; below, those that are merely invalid. */
const refusals = {
  'inactive token': { kind: 'unauthenticated' },
  'suspended account': { kind: 'forbidden' },
  'missing role': { kind: 'not allowed' },
  'unknown channel': { kind: 'not found' },
  'unknown link': { kind: 'not found' },
  'lost lease': { kind: 'unavailable', retryAfter: 60 },
  'sent form': { kind: 'unavailable', retryAfter: 1 },
  'moved account': { kind: 'moved', cells: [] },
  'account being moved': { kind: 'unavailable', retryAfter: 10 },
  'webhooks too large': {
    kind: 'invalid',
    message: 'The webhooks of an account can be at most 2 MB in all',
    errors: [{ field: 'connectionIds', message: 'must be fewer, or headers shorter' }],
  },
  'filters without their type': {
    kind: 'invalid',
    message: 'The filters of this webhook need a notification type that is left out',
    errors: [{ field: 'notificationTypes', message: 'must include what the filters are about' }],
  },
} satisfies Record<string, Failure>;

const messages = {
  'consent withdrawn':
    'The consent to this connection was withdrawn. Create another connect link, or add the provider with a credential of your own.',
  'used link': 'This link has been used already.',
  'export under way': 'An export of this account is being prepared. Ask for another once it is ready.',
  'too many exports': 'An account can have at most 5 exports a day. Try again tomorrow.',
  'too many links': 'An account can have at most 20 links that are not used yet. Revoke one first.',
  'too many channels': 'An account can have at most 10 channels',
  'last admin': 'An account needs at least one admin. Make somebody else an admin first.',
  'unknown connections': 'Invalid connection ids',
  'unknown connection': 'Invalid connection id',
  'unknown webhook': 'Invalid webhook id',
  'changed webhook':
    'This webhook has been changed since you opened it. Open it again, then make your changes.',
  'account being deleted': 'This account is being deleted',
  'deletion under way':
    'Something of this account is being deleted. Move it once that is done: see fleet deletion list',
  'too many connections': 'An account can have at most 1000 connections',
  'no pull': 'This connection does not pull from a provider, or is paused',
  'same credential': 'This account has a connection with this credential already',
  'unknown driver': 'Unknown driver',
  'wrong name': 'The name does not match. Nothing has been deleted.',
  'unknown account': 'Unknown account',
  'too many tokens':
    'An account can have at most 200 active API tokens. Revoke one that is not used any more.',
  'too many ingest keys':
    'A connection can have at most 20 active ingest keys. Revoke one that is not used any more.',
  'too many invitations': 'An account can invite at most 20 people a day. Try again tomorrow.',
  'too many webhooks': 'An account can have at most 1000 webhooks',
};

const failures: Record<RefusalWord, Failure> = {
  ...refusals,
  ...(Object.fromEntries(
    Object.entries(messages).map(([word, message]) => [word, { kind: 'invalid', message }]),
  ) as Record<keyof typeof messages, Failure>), // by the same words
};
type RefusalWord = keyof typeof refusals | keyof typeof messages;

/**
 * SQL that fails its batch with `word`. SQLite has no `raise` outside triggers, but names a bad JSON path in its error.
 * Should a newer SQLite accept such a path, the overflow fails the batch.
 */
export const refuse = (word: RefusalWord): SQL =>
  sql`coalesce(json_extract('{}', ${sql.raw(`'${word}'`)}), abs(-9223372036854775808))`;

/** A statement that rolls its batch back with `word` unless `condition` holds. */
export const refuseUnless = (db: Database, condition: SQL, word: RefusalWord) =>
  statement(db)`select case when ${condition} then 1 else ${refuse(word)} end`;

/** `values` as one parameter, for use with `in`. */
export const jsonList = (values: readonly (string | number)[]): SQL =>
  sql`(select value from json_each(${JSON.stringify(values)}))`;

export function isReading(item: object): boolean {
  const one = item as { toSQL?: () => { sql: string }; getQuery?: () => { sql: string } }; // not in Drizzle's type
  return isRead((one.getQuery?.() ?? one.toSQL?.())?.sql ?? '');
}

/**
 * Runs `statements` as one transaction of the service itself. It is retried when D1 does not say whether it ran, if it
 * is `repeatable`: running it twice has the effect of running it once. By default it is if it only reads.
 *
 * @throws Refusal: what a `refuseUnless` names, or unavailable
 */
export async function transaction<const T extends readonly [BatchItem<'sqlite'>, ...BatchItem<'sqlite'>[]]>(
  db: Database,
  statements: T,
  { repeatable = statements.every(isReading) }: { repeatable?: boolean | undefined } = {},
) {
  try {
    return await withRetries(() => db.batch(statements), repeatable);
  } catch (error) {
    throw namedRefusal(error) ?? error;
  }
}

/** Whether a row violates the unique index on `columns`, written `table.a, table.b`. */
export const breaksUnique = (error: unknown, columns: string): boolean =>
  d1Reason(error).includes(`UNIQUE constraint failed: ${columns}`);

const words = Object.keys(failures).toSorted((a, b) => b.length - a.length) as RefusalWord[]; // all of its keys

/**
 * The refusal whose word is in D1's error: `bad JSON path: 'inactive token'` today. If a newer SQLite no longer repeats
 * the word, the batch fails all the same and the caller may retry.
 */
function namedRefusal(error: unknown): Refusal | undefined {
  const reason = d1Reason(error);
  const word = words.find((one) => reason.includes(one));
  if (!word)
    return /json|integer overflow/i.test(reason)
      ? Object.assign(new Refusal({ kind: 'unavailable', retryAfter: 60 }), { cause: error })
      : undefined;
  return new Refusal(failures[word]);
}

/** Whether D1 still repeats these words in its errors; false as well if it does not respond. */
export const repeatsRefusals = (db: Database): Promise<boolean> =>
  transaction(db, [statement(db)`select ${refuse('inactive token')}`]).then(
    () => false,
    (error) => error instanceof Refusal && error.failure.kind === 'unauthenticated',
  );
