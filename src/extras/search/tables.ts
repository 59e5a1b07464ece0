import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const names = sqliteTable(
  'names',
  {
    accountId: text('account_id').notNull(),
    kind: text({ enum: ['vehicle', 'vehicle word', 'driver', 'driver word'] }).notNull(),
    name: text().notNull(),
    /** Of the vehicle or driver. */
    id: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.kind, t.name, t.id] })],
);
