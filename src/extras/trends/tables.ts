import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';

export const eventCounts = sqliteTable(
  'event_counts',
  {
    accountId: text('account_id').notNull(),
    hours: integer().notNull(),
    /** Hours since 1970, UTC. */
    start: integer().notNull(),
    risk1: integer('risk_1').notNull(),
    risk2: integer('risk_2').notNull(),
    risk3: integer('risk_3').notNull(),
    risk4: integer('risk_4').notNull(),
    risk5: integer('risk_5').notNull(),
    /** {"Speeding": 3}. */
    types: text().notNull(),
    /** By id, of risk 4 and of risk 5: {"…": [2, 1]}. */
    vehicles: text().notNull(),
    drivers: text().notNull(),
    quarters: text().notNull().default('{}'),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.hours, t.start] })],
);

export const eventCounting = sqliteTable(
  'event_counting',
  {
    accountId: text('account_id').primaryKey(),
    countedTo: integer('counted_to').notNull(),
    /** When they were counted last, in seconds since 1970. */
    liveAt: integer('live_at').notNull().default(0),
  },
  (t) => [index('event_counting_by_time').on(t.countedTo)],
);

export const eventCountsDue = sqliteTable(
  'event_counts_due',
  {
    accountId: text('account_id').notNull(),
    /** Days since 1970, UTC. */
    day: integer().notNull(),
    hours: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.day] })],
);
