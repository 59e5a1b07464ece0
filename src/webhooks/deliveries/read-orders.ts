import { type SQL, sql } from 'drizzle-orm';
import * as v from 'valibot';
import type { CursorKeys } from '../../platform/db/cursor.ts';
import { firstIdAtSql } from '../../platform/db/ids.ts';

/**
 * How the deliveries `d` of the webhooks `w` are read in an order that an index has: webhook by webhook, and in each
 * by `columns`. So nothing is sorted, and little more is read than a page shows.
 */
export type ReadOrder = {
  /** What is joined to the webhooks. */
  deliveries: SQL;
  /** What they are in order of, after the webhook. */
  columns: SQL;
  /** The condition that a delivery comes after a place; undefined if this order has no such place. */
  after: (place: CursorKeys) => SQL | undefined;
  /** What deliveries must pass one by one. */
  filter?: SQL;
  /** The status that all of them have. */
  status?: 'pending' | 'failed';
  /** Whether a range of time is one of the index: ids are in order of time. */
  byTime: boolean;
};

const ById = v.strictTuple([v.string(), v.string()]);

const byId = {
  columns: sql`d.id`,
  byTime: true,
  after: (place: CursorKeys) => {
    if (!v.is(ById, place)) return undefined;
    const [webhookId, id] = place;
    return sql`w.id >= ${webhookId} and d.id > iif(w.id = ${webhookId}, ${id}, '')`;
  },
};

/** All of them, oldest first. */
export const oldestFirst: ReadOrder = {
  ...byId,
  deliveries: sql`deliveries d on d.webhook_id = w.id`,
};

/** Those that failed, oldest first. */
export const failedOldestFirst: ReadOrder = {
  ...byId,
  deliveries: sql`deliveries d indexed by deliveries_failed on d.webhook_id = w.id and d.status = 'failed'`,
  status: 'failed',
};

const Due = v.strictTuple([v.string(), v.number(), v.number(), v.string()]);

/** Those that are pending: accidents first, then events of risk 5, those of risk 4, and the rest, each as it is due. */
export const pendingAsDue: ReadOrder = {
  deliveries: sql`deliveries d indexed by deliveries_due on d.webhook_id = w.id and d.status = 'pending'`,
  columns: sql`d.priority, d.next_attempt_at, d.id`,
  after: (place) => {
    if (!v.is(Due, place)) return undefined;
    const [webhookId, priority, dueAt, id] = place;
    return sql`w.id >= ${webhookId} and
      (d.priority, d.next_attempt_at, d.id) > (iif(w.id = ${webhookId}, ${priority}, -1), ${dueAt}, ${id})`;
  },
  status: 'pending',
  byTime: false,
};

const OfEvent = v.strictTuple([v.string(), v.number(), v.string()]);

/**
 * Those of one event or accident, by level. Their ids are of the very millisecond in which their notification was
 * written, so few others have to be looked through.
 */
export const ofEvent = (accountId: string, eventId: string): ReadOrder => ({
  deliveries: sql`notifications n on n.event_id = ${eventId} and n.account_id = ${accountId}
    cross join deliveries d on d.webhook_id = w.id
      and d.id >= ${firstIdAtSql(sql`n.created_at`)} and d.id < ${firstIdAtSql(sql`(n.created_at + 1)`)}`,
  columns: sql`n.level, d.id`,
  after: (place) => {
    if (!v.is(OfEvent, place)) return undefined;
    const [webhookId, level, id] = place;
    return sql`w.id >= ${webhookId} and n.level >= iif(w.id = ${webhookId}, ${level}, 0)
      and d.id > iif(w.id = ${webhookId} and n.level = ${level}, ${id}, '')`;
  },
  filter: sql`(d.event_id = n.event_id and d.level = n.level)`,
  byTime: true,
});
