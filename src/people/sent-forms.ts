import { and, eq, notExists, sql } from 'drizzle-orm';
import { type Database, excluded, refuse, refuseUnless } from '../core/platform/db/database.ts';
import { sentForms } from './tables.ts';

/** A form of the portal: its key, which is random, and the request that handles it. */
export type SentForm = { key: string; requestId: string };

export const sentAlready = 'This form was sent already, and took effect once.';

/** The row by which a form takes effect once: nothing is written for another request with its key. */
export const claimForm = (db: Database, accountId: string, { key, requestId }: SentForm) =>
  db
    .insert(sentForms)
    .values({ accountId, id: key, requestId, at: Date.now() })
    .onConflictDoUpdate({
      target: [sentForms.accountId, sentForms.id],
      set: { at: excluded(sentForms.at) },
      setWhere: sql`case
        when ${sentForms.requestId} <> ${excluded(sentForms.requestId)} then ${refuse(sentAlready)}
        else true end`,
    });

/** The statements by which what is valid for less than an hour is used once. A second use is refused. */
export function useOnce(db: Database, accountId: string, id: string, refusal: string) {
  const used = db
    .select({ id: sentForms.id })
    .from(sentForms)
    .where(and(eq(sentForms.accountId, accountId), eq(sentForms.id, id)));
  return [
    refuseUnless(db, notExists(used), refusal),
    db.insert(sentForms).values({ accountId, id, requestId: '', at: Date.now() }),
  ] as const;
}
