import { sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const moves = sqliteTable('moves', {
  accountId: text('account_id').primaryKey(),
  state: text().notNull(),
  /** See src/extras/cells/operator/part.ts. */
  move: text().notNull(),
});
