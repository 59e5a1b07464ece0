import { and, eq, exists, isNotNull, sql } from 'drizzle-orm';
import { alertedOf } from '../../core/fleet/accidents/alerted.ts';
import type { Database, Results } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { accidents } from '../../core/platform/db/schema/fleet.ts';
import { portalUsers } from '../../people/tables.ts';
import { alertChannels, alertMessages } from './tables.ts';

/** A person or channel that was notified of an accident, and when; `at` is null if that was before it was recorded. */
export type Alerted = Results<ReturnType<typeof selectAlerted>>[number];

/** The people and channels that were notified of an accident. */
export const findAlerted = (env: Env, caller: Caller, id: string): Promise<Alerted[]> =>
  asCaller(env, caller, (db) => selectAlerted(db, caller, id));

/** The statement that finds them, as far as they still exist. */
export function selectAlerted(db: Database, { accountId }: Caller, id: string) {
  const accident = db
    .select({ alerted: accidents.alerted })
    .from(accidents)
    .where(and(eq(accidents.id, id), eq(accidents.accountId, accountId)));
  const waiting = db
    .select({ id: alertMessages.recipientId })
    .from(alertMessages)
    .where(
      and(
        eq(alertMessages.accountId, accountId),
        eq(alertMessages.recipientId, sql`m.id`),
        eq(alertMessages.kind, 'record'),
        sql`instr(${alertMessages.items}, ${id})`,
      ),
    );
  const name = sql<string>`coalesce(${alertChannels.name}, ${portalUsers.email})`;
  return db
    .select({
      name: name.as('name'),
      isChannel: sql`${alertChannels.id} is not null`.mapWith(Boolean).as('is_channel'),
      at: sql<number | null>`abs(m.at)`.as('at'),
      isWaiting: exists(waiting).mapWith(Boolean).as('is_waiting'),
    })
    .from(sql`${alertedOf(sql`${accident}`)} m`)
    .leftJoin(alertChannels, eq(alertChannels.id, sql`m.id`))
    .leftJoin(portalUsers, eq(portalUsers.id, sql`m.id`))
    .where(isNotNull(name))
    .orderBy(sql`m.at`, sql`name`);
}
