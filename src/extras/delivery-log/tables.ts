import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const testCalls = sqliteTable(
  'test_calls',
  {
    /** Hours since 1970. */
    hour: integer().notNull(),
    host: text().notNull(),
    calls: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.hour, t.host] })],
);
