import { sql } from 'drizzle-orm';
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core';
import type { AuditedTable } from '../../core/accounts/audit/write.ts';
import { accounts } from '../../core/platform/db/schema/accounts.ts';
import type { Sealed } from '../../core/platform/db/schema/types.ts';

export const singleSignOn = sqliteTable('single_sign_on', {
  accountId: text('account_id')
    .primaryKey()
    .references(() => accounts.id),
  issuer: text().notNull(),
  clientId: text('client_id').notNull(),
  /** The client's, encrypted, bound to the account. */
  secret: text({ mode: 'json' }).$type<Sealed>().notNull(),
  /** Of people whom nobody has invited, or null: refused. */
  role: text({ enum: ['admin', 'member', 'viewer'] }),
  /** The admin who can always sign in by an emailed link. */
  linkUserId: text('link_user_id').notNull(),
});

export const signInDomains = sqliteTable(
  'sign_in_domains',
  {
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    /** In lower case. */
    domain: text().notNull(),
    /** When its DNS last named the account, null: not proven. */
    provenAt: integer('proven_at'),
    /** When its DNS was last asked. */
    checkedAt: integer('checked_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.accountId, t.domain] }),
    uniqueIndex('sign_in_domains_proven').on(t.domain).where(sql`${t.provenAt} is not null`),
    index('sign_in_domains_due').on(t.provenAt).where(sql`${t.provenAt} is not null`),
  ],
);

/** How the audit log calls an account's settings. */
export const auditedSettings: AuditedTable = {
  table: 'single_sign_on',
  subject: 'single sign-on',
  id: sql`account_id`,
  name: sql`issuer`,
};
