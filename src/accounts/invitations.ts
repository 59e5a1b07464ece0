import { sql } from 'drizzle-orm';
import { refuseUnless, statement } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { newId } from '../platform/db/ids.ts';
import { dayMs, hourMs } from '../platform/durations.ts';
import type { Role } from '../platform/roles.ts';
import { insertPending, noteInvited } from './people.ts';

/** How many people an account can invite in 24 hours. */
export const maxInvitationsPerDay = 20;

/** How long an address gets no second invitation email, from any account. */
export const quietMs = hourMs;

/** How long an unused invitation stays listed. */
export const pendingMs = 14 * dayMs;

/**
 * Invites a person with a role; they are pending until they sign in. The result is the same for unknown, known and
 * recently emailed addresses, so that callers learn nothing about them. Returns whether to send the email.
 *
 * @throws Refusal: invalid, when the account has sent its invitations of the day
 */
export async function invite(
  env: Env,
  caller: Caller,
  { email, role }: { email: string; role: Role },
): Promise<boolean> {
  const { accountId } = caller;
  const now = Date.now();
  const [, , , , , [invited]] = await asCaller(env, caller, (db) => [
    statement(db)`delete from invitations where account_id = ${accountId} and id in (
        select id from invitations where account_id = ${accountId} and sent_at <= ${now - dayMs})`,
    refuseUnless(
      db,
      sql`(select count(*) from invitations where account_id = ${accountId}) < ${maxInvitationsPerDay}`,
      'too many invitations',
    ),
    statement(db)`delete from portal_users where account_id = ${accountId} and confirmed_at is null
        and created_at <= ${now - pendingMs}`,
    insertPending(db, accountId, { email, role }, sql`true`),
    noteInvited(db, caller, { email, role }),
    statement<{ emailed: number }>(db)`
      insert into invitations (account_id, id, email, sent_at, emailed)
      select ${accountId}, ${newId()}, ${email}, ${now}, not exists (
        select 1 from invitations where email = ${email} and emailed and sent_at > ${now - quietMs})
      returning emailed`,
  ]);
  return invited?.emailed === 1;
}
