import { and, eq, exists, isNotNull, sql } from 'drizzle-orm';
import type { Database, Results } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { portalUsers } from '../../people/tables.ts';
import { accidentAlerts, alertChannels, alertMessages } from './tables.ts';

/** A person or channel that was notified of an accident, and when. */
export type Alerted = Results<ReturnType<typeof selectAlerted>>[number];

/** The people and channels that were notified of an accident. */
export const findAlerted = (env: Env, caller: Caller, id: string): Promise<Alerted[]> =>
  asCaller(env, caller, (db) => selectAlerted(db, caller, id));

/** The statement that finds them, as far as they still exist. */
export function selectAlerted(db: Database, { accountId }: Caller, id: string) {
  const { recipientId } = accidentAlerts;
  const waiting = db
    .select({ id: alertMessages.recipientId })
    .from(alertMessages)
    .where(
      and(
        eq(alertMessages.accountId, accountId),
        eq(alertMessages.recipientId, recipientId),
        eq(alertMessages.kind, 'record'),
        sql`instr(${alertMessages.items}, ${id})`,
      ),
    );
  const name = sql<string>`coalesce(${alertChannels.name}, ${portalUsers.email})`;
  return db
    .select({
      name: name.as('name'),
      isChannel: sql`${alertChannels.id} is not null`.mapWith(Boolean).as('is_channel'),
      at: accidentAlerts.at,
      isWaiting: exists(waiting).mapWith(Boolean).as('is_waiting'),
    })
    .from(accidentAlerts)
    .leftJoin(alertChannels, eq(alertChannels.id, recipientId))
    .leftJoin(portalUsers, eq(portalUsers.id, recipientId))
    .where(
      and(
        eq(accidentAlerts.accidentId, id),
        eq(accidentAlerts.accountId, accountId),
        isNotNull(name),
      ),
    )
    .orderBy(accidentAlerts.at, sql`name`);
}
