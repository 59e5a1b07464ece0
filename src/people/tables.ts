import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { AuditedTable } from '../core/accounts/audit/write.ts';
import { accounts } from '../core/platform/db/schema/accounts.ts';

export const portalUsers = sqliteTable(
  'portal_users',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    /** In lower case. */
    email: text().notNull(),
    createdAt: integer('created_at').notNull(),
    lastSignInAt: integer('last_sign_in_at'),
    /** Null: pending. */
    confirmedAt: integer('confirmed_at'),
    /** 0: has turned these emails off. */
    getsAlerts: integer('gets_alerts', { mode: 'boolean' }).notNull().default(true),
    role: text({ enum: ['admin', 'member', 'viewer'] })
      .notNull()
      .default('admin'),
    /** As they chose, by its IANA name, or null for that of their browser. */
    timeZone: text('time_zone'),
    /** When they asked for sign-in links in the last day. */
    linksAt: text('links_at').notNull().default('[]'),
    /** The hash of what their provider called them by first, since its settings are as they are. */
    subject: text(),
    /** When the next daily summary is due. */
    summaryDueAt: integer('summary_due_at'),
    /** That of their browser as they asked for it. */
    summaryZone: text('summary_zone'),
  },
  (t) => [
    index('portal_users_summaries').on(t.summaryDueAt).where(sql`${t.summaryDueAt} is not null`),
    uniqueIndex('portal_users_by_address').on(t.email, t.accountId),
    index('portal_users_by_account').on(t.accountId, t.createdAt, t.id),
    index('portal_users_alerted')
      .on(t.accountId, t.createdAt, t.id)
      .where(sql`${t.confirmedAt} is not null and ${t.getsAlerts} = 1`),
  ],
);

export const invitations = sqliteTable(
  'invitations',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    id: text().notNull(),
    email: text().notNull(),
    sentAt: integer('sent_at').notNull(),
    /** 0: somebody had emailed them within the hour. */
    emailed: integer({ mode: 'boolean' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.id] }),
    index('invitations_by_age').on(t.sentAt, t.email),
  ],
);

export const signInLinks = sqliteTable(
  'sign_in_links',
  {
    hash: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => portalUsers.id, { onDelete: 'cascade' }),
    expiresAt: integer('expires_at').notNull(),
    /** The hash of the form that asked for it, which may be sent twice. */
    form: text(),
  },
  (t) => [
    uniqueIndex('sign_in_links_by_form').on(t.form).where(sql`${t.form} is not null`),
    index('sign_in_links_by_user').on(t.userId),
    index('sign_in_links_by_expiry').on(t.expiresAt),
  ],
);

export const sessions = sqliteTable(
  'sessions',
  {
    hash: text().primaryKey(),
    userId: text('user_id')
      .notNull()
      .references(() => portalUsers.id, { onDelete: 'cascade' }),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('sessions_by_user').on(t.userId), index('sessions_by_expiry').on(t.expiresAt)],
);

export const sentForms = sqliteTable(
  'sent_forms',
  {
    accountId: text('account_id').notNull(),
    /** The form's key, which is random. */
    id: text().notNull(),
    /** The request that handles it: another one with this key writes nothing. */
    requestId: text('request_id').notNull(),
    at: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.id] }), index('sent_forms_by_age').on(t.at)],
);

export const removedPeople = sqliteTable(
  'removed_people',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    hash: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.accountId, t.hash] })],
);

/** How the audit log calls people. */
export const auditedPerson: AuditedTable = {
  table: 'portal_users',
  subject: 'person',
  name: sql`email`,
};
