import { sql } from 'drizzle-orm';
import { type Database, write } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { timestamp } from '../../platform/fields.ts';
import { type ChangeSource, recordChange } from '../record-changes.ts';

/** The statements that tell of new evidence of an accident. A report that this link leads to is at `page` from now on. */
export const noteEvidence = (
  db: Database,
  source: ChangeSource,
  accidentId: string,
  { link, page }: { link: string | null; page: string },
) => [
  write(db)`
    update accidents set updated_at = ${source.now}, report_url = iif(report_url = ${link}, ${page}, report_url)
    where id = ${accidentId}`,
  recordChange(db, source, 'changed', 'accident', [accidentId]),
];

/** What somebody can do about an accident, and its state afterwards. */
export const handlings = {
  assign: 'assigned',
  acknowledge: 'acknowledged',
  close: 'closed',
  reopen: 'reopened',
} as const;
export type Handling = keyof typeof handlings;

export const maxNote = 500;

const handledIn = {
  assign: 'assigned_to',
  acknowledge: 'acknowledged',
  close: 'closed',
  reopen: 'closed',
} as const satisfies { [does in Handling]: string };

/**
 * Handles an accident in a user's name, or assigns it `to` a person of the account, by address, or to nobody. Returns
 * false if somebody has done so already.
 */
export async function handleAccident(
  env: Env,
  caller: Caller,
  { eventId, connectionId }: { eventId: string; connectionId: string },
  { does, by, note, to }: { does: Handling; by: string; note: string | null; to: string | null },
): Promise<boolean> {
  const now = Date.now();
  const { accountId } = caller;
  const source = { accountId, connectionId, now };
  const handled = JSON.stringify({ at: timestamp(now), by, ...(note && { note }) });
  const column = sql.identifier(handledIn[does]);
  const value = does === 'assign' ? to : does === 'reopen' ? null : handled;
  const isPerson = sql`exists (select 1 from portal_users where account_id = ${accountId} and email = ${to})`;
  const changes =
    does === 'assign'
      ? sql`${column} is not ${to} and ${to === null ? sql`true` : isPerson}`
      : sql`(${column} is null) = ${Number(does !== 'reopen')}`;
  const { handling } = await asCaller(env, caller, (db) => ({
    handling: write(db)`
      update accidents set ${column} = ${value}, updated_at = ${now}
      where id = ${eventId} and account_id = ${accountId} and connection_id = ${connectionId} and ${changes}`,
    change: recordChange(
      db,
      source,
      'changed',
      'accident',
      sql`select ${eventId} as id where changes() > 0`,
    ),
  }));
  return handling.meta.changes > 0;
}
