import { sql } from 'drizzle-orm';
import { write } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { timestamp } from '../../platform/fields.ts';
import { recordChange } from '../record-changes.ts';

/** What somebody can do about an accident, and its state afterwards. */
export const handlings = {
  acknowledge: 'acknowledged',
  close: 'closed',
  reopen: 'reopened',
} as const;
export type Handling = keyof typeof handlings;

export const maxNote = 500;

/** Handles an accident in a user's name. Returns false if somebody has done so already. */
export async function handleAccident(
  env: Env,
  caller: Caller,
  { eventId, connectionId }: { eventId: string; connectionId: string },
  { does, by, note }: { does: Handling; by: string; note: string | null },
): Promise<boolean> {
  const now = Date.now();
  const { accountId } = caller;
  const source = { accountId, connectionId, now };
  const handled = JSON.stringify({ at: timestamp(now), by, ...(note && { note }) });
  const column = sql.identifier(does === 'acknowledge' ? 'acknowledged' : 'closed');
  const { handling } = await asCaller(env, caller, (db) => ({
    handling: write(db)`
      update accidents set ${column} = ${does === 'reopen' ? null : handled}, updated_at = ${now}
      where id = ${eventId} and account_id = ${accountId} and connection_id = ${connectionId}
        and (${column} is null) = ${Number(does !== 'reopen')}`,
    change: recordChange(db, source, 'changed', 'accident', sql`select ${eventId} as id where changes() > 0`),
  }));
  return handling.meta.changes > 0;
}
