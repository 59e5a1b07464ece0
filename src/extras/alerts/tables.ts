import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AuditedTable } from '../../core/accounts/audit/write.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import { accidents } from '../../core/platform/db/schema/fleet.ts';

export const mailRules = sqliteTable(
  'mail_rules',
  {
    /** The user or the channel. */
    recipientId: text('recipient_id').primaryKey(),
    accountId: text('account_id').notNull(),
    /** Of accidents, as bits: 1, 2 and 4. */
    levels: integer().notNull(),
    /** The least of safety events, or null for none of these. */
    risk: integer(),
    /** Of vehicles, or null for all. */
    groups: text({ mode: 'json' }).$type<string[]>(),
    /** The same as they are compared. */
    groupKeys: text('group_keys', { mode: 'json' }).$type<string[]>(),
    since: integer().notNull(),
  },
  (t) => [index('mail_rules_by_account').on(t.accountId)],
);

/** Who was notified of an accident, and so is notified if it turns out to be a false alarm. */
export const accidentAlerts = sqliteTable(
  'accident_alerts',
  {
    accidentId: text('accident_id')
      .notNull()
      .references(() => accidents.id, { onDelete: 'cascade' }),
    /** The user or the channel. */
    recipientId: text('recipient_id').notNull(),
    accountId: text('account_id').notNull(),
    at: integer().notNull(),
    /** Of the false alarm as well. */
    dismissed: integer({ mode: 'boolean' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accidentId, t.recipientId] }),
    index('accident_alerts_by_account').on(t.accountId, t.accidentId, t.recipientId),
  ],
);

export const mailFeeds = sqliteTable('mail_feeds', {
  accountId: text('account_id').primaryKey(),
  /** The last of `changes` that was looked at. */
  seen: integer().notNull(),
});

export const alertChannels = sqliteTable(
  'alert_channels',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    kind: text({ enum: ['slack', 'teams', 'https'] }).notNull(),
    name: text().notNull(),
    /** Encrypted: the URL, which is a secret. */
    address: text().notNull(),
    /** What is shown of it. */
    host: text().notNull(),
    lastFour: text('last_four').notNull(),
    /** 1: is notified of problems with webhooks and connections. */
    getsAlerts: integer('gets_alerts', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    /** Why the last message did not arrive, or null. */
    problem: text(),
    problemAt: integer('problem_at'),
    /** When a message last arrived. */
    sentAt: integer('sent_at'),
  },
  (t) => [index('alert_channels_by_account').on(t.accountId, t.createdAt, t.id)],
);

export const alertMessages = sqliteTable(
  'alert_messages',
  {
    accountId: text('account_id').notNull(),
    /** The user or the channel. */
    recipientId: text('recipient_id').notNull(),
    kind: text({ enum: ['paused', 'failed', 'working', 'connection', 'record'] }).notNull(),
    items: text().notNull(),
    total: integer().notNull(),
    /** When it last grew. */
    addedAt: integer('added_at').notNull(),
    dueAt: integer('due_at').notNull(),
    attempts: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.recipientId, t.kind] }),
    index('alert_messages_due').on(t.dueAt),
  ],
);

export const alertsSent = sqliteTable(
  'alerts_sent',
  {
    accountId: text('account_id').notNull(),
    /** Days since 1970, UTC: older ones are deleted. */
    day: integer().notNull(),
    messages: integer().notNull(),
    emails: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.day] })],
);

/** How the audit log calls channels. */
export const auditedChannel: AuditedTable = { table: 'alert_channels', subject: 'team channel' };
