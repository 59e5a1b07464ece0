import { eq, getTableColumns, isNotNull, ne, type SQL, sql } from 'drizzle-orm';
import { type Database, transaction } from '../../core/platform/db/database.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { deletions } from '../../core/platform/db/schema/jobs.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { maxListed } from '../api/counted.ts';

/** An accepted deletion that is not done, with the name of its account, if that is there. */
export type Deletion = Awaited<ReturnType<typeof selectDeletions>>[number];

export type Kind = Deletion['kind'];

export const maxDeletionsListed = 1000;

/** Accepted deletions that are not done, those due first before others. */
export function listDeletions(env: Env): Promise<Deletion[]> {
  const db = openDatabase(env);
  return transaction(
    db,
    selectDeletions(db, ne(deletions.kind, 'copy'))
      .orderBy(deletions.dueAt)
      .limit(maxDeletionsListed),
  );
}

/** The statement that reads the deletions for which a condition holds. */
export const selectDeletions = (db: Database, which: SQL | undefined) =>
  db
    .select({ ...getTableColumns(deletions), account: accounts.name })
    .from(deletions)
    .leftJoin(accounts, eq(accounts.id, deletions.accountId))
    .where(which);

/** The statement that lists deletions that have failed, among the first 1,000. */
export function failedDeletions(db: Database) {
  const first = db
    .select()
    .from(deletions)
    .orderBy(deletions.dueAt)
    .limit(maxDeletionsListed)
    .as('first');
  return db
    .select({
      id: first.id,
      accountId: first.accountId,
      account: accounts.name,
      problem: sql<string>`${first.problem}`.as('its_problem'),
    })
    .from(first)
    .leftJoin(accounts, eq(accounts.id, first.accountId))
    .where(isNotNull(first.problem))
    .limit(maxListed);
}
