import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { connections } from '../../core/platform/db/schema/accounts.ts';

/** For how many days an account keeps its evidence, and since when. One without a row keeps none. */
export const evidenceDays = sqliteTable('evidence_days', {
  accountId: text('account_id').primaryKey(),
  days: integer().notNull(),
  since: integer().notNull(),
});

export const evidence = sqliteTable(
  'evidence',
  {
    /** Of the connection, accident, kind, camera and link without its signature. */
    id: text().primaryKey(),
    accountId: text('account_id').notNull(),
    connectionId: text('connection_id')
      .notNull()
      .references(() => connections.id),
    accidentId: text('accident_id').notNull(),
    kind: text({ enum: ['video', 'photo', 'document', 'telemetry'] }).notNull(),
    camera: text(),
    takenAt: integer('taken_at'),
    /** The link, null once the file is stored. */
    source: text(),
    /** Its connection and server: the files of one are copied one after the other. */
    lane: text().notNull(),
    state: text({ enum: ['waiting', 'stored', 'missed', 'gone'] })
      .notNull()
      .default('waiting'),
    /** Why it was missed, or not copied so far. */
    reason: text(),
    contentType: text('content_type'),
    /** How large it is, while it is copied, what is reserved for it. */
    bytes: integer(),
    sha256: text(),
    /** How far its copy has come. */
    upload: text(),
    attempts: integer().notNull().default(0),
    /** When to try next, null unless it is waiting. */
    nextAt: integer('next_at'),
    /** Who has opened it in the last hour, and when. */
    opened: text().notNull().default('{}'),
    createdAt: integer('created_at').notNull(),
    /** When it was stored or missed. */
    endedAt: integer('ended_at'),
  },
  (t) => [
    index('evidence_by_accident').on(t.accidentId, t.id),
    index('evidence_by_account').on(t.accountId, t.state, t.createdAt, t.id),
    index('evidence_by_connection').on(t.connectionId, t.id),
    index('evidence_waiting').on(t.accountId, t.nextAt, t.id).where(sql`${t.nextAt} is not null`),
    index('evidence_lanes')
      .on(t.accountId, t.lane, t.nextAt, t.id)
      .where(sql`${t.nextAt} is not null`),
  ],
);
