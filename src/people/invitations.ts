import { and, eq, gt, isNull, lt, lte, notExists, sql } from 'drizzle-orm';
import { refuseUnless } from '../core/platform/db/database.ts';
import { asCaller, type Caller } from '../core/platform/db/guard.ts';
import { newId } from '../core/platform/db/ids.ts';
import { dayMs, hourMs } from '../core/platform/durations.ts';
import type { Role } from '../core/platform/roles.ts';
import { addPending, isOf, removedHash } from './people.ts';
import { invitations, portalUsers } from './tables.ts';

/** How many people an account can invite in 24 hours. */
export const maxInvitationsPerDay = 20;

/** How long an address gets no second invitation email, from any account. */
export const quietMs = hourMs;

const pendingMs = 14 * dayMs;

/**
 * Invites a person with a role. The result is the same for unknown, known and recently emailed
 * addresses, so that callers learn nothing about them. Returns whether to send the email.
 * @throws Refusal: invalid, when the account has sent its invitations of the day
 */
export async function invite(
  env: Env,
  caller: Caller,
  { email, role }: { email: string; role: Role },
): Promise<boolean> {
  const { accountId } = caller;
  const now = Date.now();
  const ofDay = and(eq(invitations.accountId, accountId), gt(invitations.sentAt, now - dayMs));
  const hash = await removedHash(accountId, email);
  const { invited } = await asCaller(env, caller, (db) => {
    const emailedLately = db
      .select({ id: invitations.id })
      .from(invitations)
      .where(
        and(
          eq(invitations.email, email),
          eq(invitations.emailed, true),
          gt(invitations.sentAt, now - quietMs),
        ),
      );
    return {
      allowed: refuseUnless(
        db,
        lt(db.$count(invitations, ofDay), maxInvitationsPerDay),
        `An account can invite at most ${maxInvitationsPerDay} people a day. Try again tomorrow.`,
      ),
      unused: db
        .delete(portalUsers)
        .where(
          and(
            isOf(accountId),
            isNull(portalUsers.confirmedAt),
            lte(portalUsers.createdAt, now - pendingMs),
          ),
        ),
      ...addPending(db, caller, { email, role, hash }),
      // Whoever has the address now at the provider is accepted with that.
      accepted: db
        .update(portalUsers)
        .set({ subject: null })
        .where(and(isOf(accountId), eq(portalUsers.email, email))),
      invited: db
        .insert(invitations)
        .values({
          accountId,
          id: newId(),
          email,
          sentAt: now,
          emailed: sql`${notExists(emailedLately)}`,
        })
        .returning({ emailed: invitations.emailed }),
    };
  });
  return invited[0]?.emailed === true;
}
