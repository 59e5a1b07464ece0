import { integer, sqliteTable } from 'drizzle-orm/sqlite-core';

export const databaseSizes = sqliteTable('database_sizes', {
  /** Days since 1970, UTC. */
  day: integer().primaryKey(),
  bytes: integer().notNull(),
});

export const sweeps = sqliteTable('sweeps', {
  id: integer().primaryKey(),
  at: integer().notNull(),
  /** Since when the oldest delivery has been due that nobody works for. */
  oldestDueAt: integer('oldest_due_at'),
});
