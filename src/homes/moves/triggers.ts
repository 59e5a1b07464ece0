import { sql } from 'drizzle-orm';
import { change, type Database, statement } from '../../platform/db/database.ts';
import { raw } from './pages.ts';
import { isOf, type Moved, movedTables, quoted } from './tables.ts';

/*
 * While an account moves, triggers watch its rows and nobody else's. They see every writer there is: requests, workers,
 * pulls and cron jobs, whose statements also touch others' rows, and which therefore must not fail. What is shut out is
 * passed over in silence; callers are told by `asCaller`.
 */

/** In the old home: notes what changes, lets nobody write who may not, and refuses deletions. */
export const watch = (db: Database, accountId: string) =>
  [
    ...movedTables.flatMap((table) => [...guards(table, accountId), ...notes(table, accountId)]),
    ...drains(accountId),
    ...noDeletions(accountId),
  ].map((text) => change(db, raw(text)));

/** In the new home: lets nobody write before the account is there. */
export const seal = (db: Database, accountId: string) =>
  movedTables.flatMap((table) => guards(table, accountId)).map((text) => change(db, raw(text)));

/** The triggers of an account's move that are there. */
export const findTriggers = (db: Database, accountId: string) =>
  statement<{ name: string }>(
    db,
    sql`select name from sqlite_master where type = 'trigger' and name like ${`${prefix(accountId)}%`}`,
  );

/** Drops triggers. */
export const drop = (db: Database, triggers: { name: string }[]) =>
  triggers.map(({ name }) => change(db, raw(`drop trigger if exists ${name}`)));

const prefix = (accountId: string): string => `move_${accountId.replaceAll('-', '')}_`;

const trigger = (accountId: string, name: string, on: string, when: string, does: string): string =>
  `create trigger if not exists ${prefix(accountId)}${name} ${on} when ${when} begin ${does}; end`;

const gateOf = (accountId: string): string =>
  `(select gate from moves where account_id = ${quoted(accountId)})`;

const writes = { insert: ['new'], update: ['new', 'old'], delete: ['old'] };

const rowIs = (table: Moved, rows: string[], accountId: string): string =>
  `(${rows.map((row) => isOf(table, row, quoted(accountId))).join(' or ')})`;

/** Whoever moves the account opens the gate for one table at a time, within a transaction of its own. */
const guards = (table: Moved, accountId: string): string[] =>
  Object.entries(writes).map(([write, rows]) =>
    trigger(
      accountId,
      `${table.name}_guard_${write}`,
      `before ${write} on ${table.name}`,
      `${rowIs(table, rows, accountId)} and ${gateOf(accountId)} not in ('', 'drain', '${table.name}')`,
      'select raise(ignore)',
    ),
  );

const notes = (table: Moved, accountId: string): string[] =>
  Object.entries(writes).map(([write, rows]) => {
    const key = table.key.map((column) => `${rows[0]}.${column}`).join(', '); // which no update changes
    return trigger(
      accountId,
      `${table.name}_note_${write}`,
      `after ${write} on ${table.name}`,
      `${rowIs(table, rows, accountId)} and ${gateOf(accountId)} in ('', 'drain')`,
      `insert into moved_rows (account_id, table_name, key)
        values (${quoted(accountId)}, '${table.name}', json_array(${key}))`,
    );
  });

/** Shortly before the switch nothing new is claimed, so that no call is under way when it comes. */
const drains = (accountId: string): string[] => [
  trigger(
    accountId,
    'deliveries_drain',
    'before update of claimed_until on deliveries',
    `new.account_id = ${quoted(accountId)} and new.claimed_until > old.claimed_until
      and ${gateOf(accountId)} = 'drain'`,
    'select raise(ignore)',
  ),
  trigger(
    accountId,
    'pulls_drain',
    'before update of claim on pulls',
    `new.account_id = ${quoted(accountId)} and new.claim is not null and new.claim is not old.claim
      and ${gateOf(accountId)} = 'drain'`,
    'select raise(ignore)',
  ),
];

const noDeletions = (accountId: string): string[] => [
  trigger(
    accountId,
    'deletions',
    'before insert on deletions',
    `new.account_id = ${quoted(accountId)} and ${gateOf(accountId)} is not null`,
    `select json_extract('{}', 'account on the move')`,
  ),
];
