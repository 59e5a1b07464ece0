import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { accidents } from '../../platform/db/schema/fleet.ts';
import { timestamp } from '../../platform/fields.ts';
import { type ChangeSource, ifChanged, recordChange } from '../record-changes.ts';

/** The statements that tell of new evidence of an accident. A report that this link leads to is at `page` from now on. */
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

/** What somebody can do about an accident, and its state afterwards. */
export const handlings = {
  assign: 'assigned',
  acknowledge: 'acknowledged',
  close: 'closed',
  reopen: 'reopened',
} as const;
export type Handling = keyof typeof handlings;

export const maxNote = 500;

/**
 * Handles an accident in a user's name, or assigns it `to` somebody of the account who `isPerson`, by address, or to
 * nobody. Returns
 * false if somebody has done so already.
 */
export async function handleAccident(
  env: Env,
  caller: Caller,
  { eventId, connectionId }: { eventId: string; connectionId: string },
  { does, by, note, to }: { does: Handling; by: string; note: string | null; to: string | null },
  isPerson: (db: Database, accountId: string, email: string) => SQL,
): Promise<boolean> {
  const now = Date.now();
  const { accountId } = caller;
  const source = { accountId, connectionId, now };
  const handled = JSON.stringify({ at: timestamp(now), by, ...(note && { note }) });
  const { assignedTo, acknowledged, closed } = accidents;
  const { handling } = await asCaller(env, caller, (db) => {
    const isOther = sql`${assignedTo} is not ${to}`;
    const mayBe = to === null ? undefined : isPerson(db, accountId, to);
    const [changes, where] = {
      assign: [{ assignedTo: to }, and(isOther, mayBe)] as const,
      acknowledge: [{ acknowledged: handled }, isNull(acknowledged)] as const,
      close: [{ closed: handled }, isNull(closed)] as const,
      reopen: [{ closed: null }, isNotNull(closed)] as const,
    }[does];
    return {
      handling: db
        .update(accidents)
        .set({ ...changes, updatedAt: now })
        .where(
          and(
            eq(accidents.id, eventId),
            eq(accidents.accountId, accountId),
            eq(accidents.connectionId, connectionId),
            where,
          ),
        ),
      change: recordChange(db, source, 'changed', 'accident', ifChanged(eventId)),
    };
  });
  return handling.meta.changes > 0;
}
