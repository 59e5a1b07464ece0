import { integer, sqliteTable } from 'drizzle-orm/sqlite-core';

export const databaseSizes = sqliteTable('database_sizes', {
  /** Days since 1970, UTC. */
  day: integer().primaryKey(),
  bytes: integer().notNull(),
});
