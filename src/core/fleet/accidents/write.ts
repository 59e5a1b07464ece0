import { and, eq, exists, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { type Database, refuseUnless } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { accidents } from '../../platform/db/schema/fleet.ts';
import { timestamp } from '../../platform/fields.ts';
import { type ChangeSource, recordChange } from '../record-changes.ts';

/** The statements that record new evidence of an accident as a change. A report that this link leads to is at `page` from now on. */
export const noteEvidence = (
  db: Database,
  source: ChangeSource,
  accidentId: string,
  { link, page }: { link: string | null; page: string },
) => [
  db
    .update(accidents)
    .set({
      updatedAt: source.now,
      reportUrl: sql`iif(${accidents.reportUrl} = ${link}, ${page}, ${accidents.reportUrl})`,
    })
    .where(eq(accidents.id, accidentId)),
  recordChange(db, source, 'changed', 'accident', [accidentId]),
];

/** What somebody can do about an accident, and what it is then. */
export const handlings = {
  save: 'saved',
  acknowledge: 'acknowledged',
  close: 'closed',
  reopen: 'reopened',
} as const;
export type Handling = keyof typeof handlings;

export const maxNote = 500;

/** What somebody does about an accident; `assignedTo` and `note` only if they change. */
export type Handled = {
  does: Handling;
  by: string;
  /** The note as it stands, which is kept with what is done. */
  standing: string | null;
  assignedTo?: string | null;
  note?: string | null;
};

/**
 * Handles an accident in a user's name: its state, whom of the account, who `isPerson`, it is assigned to, and the note, as one
 * change. @throws Refusal: invalid, if somebody has done so already, or the person is not of the account
 */
export async function handleAccident(
  env: Env,
  caller: Caller,
  { eventId, connectionId }: { eventId: string; connectionId: string },
  { does, by, standing, assignedTo: to, note }: Handled,
  isPerson: (db: Database, accountId: string, email: string) => SQL,
): Promise<void> {
  const now = Date.now();
  const { accountId } = caller;
  const source = { accountId, connectionId, now };
  const handled = JSON.stringify({
    at: timestamp(now),
    by,
    ...(standing && { note: standing }),
  });
  const { acknowledged, closed } = accidents;
  const [changes, isFree] = {
    save: [{}, undefined] as const,
    acknowledge: [{ acknowledged: handled }, isNull(acknowledged)] as const,
    close: [{ closed: handled }, isNull(closed)] as const,
    reopen: [{ closed: null }, isNotNull(closed)] as const,
  }[does];
  await asCaller(env, caller, (db) => {
    const which = and(
      eq(accidents.id, eventId),
      eq(accidents.accountId, accountId),
      eq(accidents.connectionId, connectionId),
      isFree,
      to ? isPerson(db, accountId, to) : undefined,
    );
    return [
      refuseUnless(
        db,
        exists(db.select({ id: accidents.id }).from(accidents).where(which)),
        unchanged,
      ),
      db
        .update(accidents)
        .set({
          ...changes,
          ...(to !== undefined && { assignedTo: to }),
          ...(note !== undefined && { note }),
          updatedAt: now,
        })
        .where(which),
      recordChange(db, source, 'changed', 'accident', [eventId]),
    ];
  });
}

const unchanged =
  'Nothing was changed: somebody else has done it already, or the person is not of your account.';
