import { eq, notInArray, sql } from 'drizzle-orm';
import type { Database } from '../../../core/platform/db/database.ts';
import { accounts } from '../../../core/platform/db/schema/accounts.ts';
import { maxListed } from '../../../operator/api/counted.ts';
import { moves } from '../tables.ts';

/** The statement that selects accounts that are being moved from here. */
export function unfinishedMoves(db: Database, now: number) {
  const { move, state, accountId } = moves;
  const due = sql`${move}->>'since' + 1000 * (${move}->>'seconds')`;
  return db
    .select({
      accountId: accounts.id,
      account: accounts.name,
      to: sql<string>`${move}->>'to'`.as('to'),
      state,
      since: sql<number>`${move}->>'since'`.as('since'),
      isOverdue: sql<boolean>`${due} < ${now}`.mapWith(Boolean).as('is_overdue'),
    })
    .from(moves)
    .innerJoin(accounts, eq(accounts.id, accountId))
    .where(notInArray(state, ['none', 'arriving']))
    .limit(maxListed);
}
