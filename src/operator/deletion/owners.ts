import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { recordKinds } from '../../core/fleet/lists/registry.ts';
import { auditLog, connections, tokens } from '../../core/platform/db/schema/accounts.ts';
import { changes, erasedDrivers } from '../../core/platform/db/schema/fleet.ts';
import {
  deliveries,
  fanOuts,
  notifications,
  webhookConnections,
  webhookHealth,
  webhookHours,
  webhooks,
} from '../../core/platform/db/schema/webhooks.ts';
import { declared } from '../../extras.ts';
import {
  invitations,
  portalUsers,
  removedPeople,
  sentForms,
  sessions,
  signInLinks,
} from '../../people/tables.ts';

/**
 * The column by which the rows of each table belong to an account: its id, or that of a connection, webhook or user of
 * it. They move with the account, and are deleted with it in the opposite order: rows come after those that they refer
 * to. Elsewhere are `accounts`, `deletions` and `moves`, which the last step writes, and `names`, which triggers keep.
 */
export const owners: SQLiteColumn[] = [
  connections.accountId,
  webhooks.accountId,
  portalUsers.accountId,
  ...recordKinds.map(({ list }) => list.connection),
  auditLog.accountId,
  changes.accountId,
  deliveries.webhookId,
  erasedDrivers.connectionId,
  fanOuts.accountId,
  invitations.accountId,
  notifications.accountId,
  removedPeople.accountId,
  sentForms.accountId,
  sessions.userId,
  signInLinks.userId,
  tokens.accountId,
  webhookConnections.connectionId,
  webhookHealth.webhookId,
  webhookHours.webhookId,
  ...declared('tables').flat(),
];
