import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { auditLog, connections, tokens } from '../../core/platform/db/schema/accounts.ts';
import {
  accidents,
  changes,
  drivers,
  erasedDrivers,
  safetyEvents,
  trips,
  vehicles,
} from '../../core/platform/db/schema/fleet.ts';
import {
  deliveries,
  fanOuts,
  notifications,
  webhookConnections,
  webhookHealth,
  webhookHours,
  webhooks,
} from '../../core/platform/db/schema/webhooks.ts';
import {
  alertChannels,
  alertMessages,
  alertsSent,
  mailFeeds,
  mailRules,
} from '../../extras/alerts/tables.ts';
import { archivedDays } from '../../extras/archive/tables.ts';
import { ingestProblems } from '../../extras/connector-problems/tables.ts';
import { evidence } from '../../extras/evidence/tables.ts';
import { exports } from '../../extras/exports/tables.ts';
import { connectLinks, pullRefusals, pulls } from '../../extras/providers/tables.ts';
import { signInDomains, singleSignOn } from '../../extras/single-sign-on/tables.ts';
import { eventCounting, eventCounts, eventCountsDue } from '../../extras/trends/tables.ts';
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
  pulls.accountId,
  accidents.accountId,
  alertChannels.accountId,
  alertMessages.accountId,
  alertsSent.accountId,
  archivedDays.accountId,
  auditLog.accountId,
  changes.accountId,
  connectLinks.accountId,
  deliveries.webhookId,
  drivers.accountId,
  erasedDrivers.connectionId,
  evidence.accountId,
  exports.accountId,
  fanOuts.accountId,
  ingestProblems.connectionId,
  invitations.accountId,
  mailFeeds.accountId,
  mailRules.accountId,
  notifications.accountId,
  pullRefusals.connectionId,
  removedPeople.accountId,
  safetyEvents.connectionId,
  sentForms.accountId,
  sessions.userId,
  signInDomains.accountId,
  signInLinks.userId,
  singleSignOn.accountId,
  tokens.accountId,
  trips.accountId,
  vehicles.connectionId,
  webhookConnections.connectionId,
  webhookHealth.webhookId,
  webhookHours.webhookId,
  // Copied events mark their hours as due, so that these come last.
  eventCounting.accountId,
  eventCounts.accountId,
  eventCountsDue.accountId,
];
