import { type SQL, sql } from 'drizzle-orm';

/*
 * What a record changes in its accident, as SQL: D1 decides it in the transaction that notifies of
 * it. `a` is the accident's row so far, all null if there is none; `record` is JSON with
 * notificationLevel, dismissed and sourceUpdatedAt.
 */

/** Whether the record is older than the known version. */
export const isOlder = (record: SQL): SQL =>
  sql`coalesce(${record}->>'sourceUpdatedAt' < a.source_updated_at, 0)`;

/** Whether what the accident has is newer: without times, a higher level is. */
export const isBehind = (
  record: SQL,
): SQL => sql`coalesce(${record}->>'sourceUpdatedAt' < a.source_updated_at,
  ${record}->>'notificationLevel' < a.notification_level, 0)`;

/** Whether it is a false alarm then. A later level or a newer version reopens it, no repeat. */
export const dismissedAfter = (record: SQL): SQL => sql`
  case
    when a.id is null then ${record}->>'dismissed'
    when ${isOlder(record)} then a.dismissed
    when ${record}->>'dismissed' then 1
    else a.dismissed and ${record}->>'notificationLevel' <= a.notification_level
      and not coalesce(${record}->>'sourceUpdatedAt' > a.source_updated_at, 0)
  end`;

/** The notified levels then, as bits. A false alarm adds level 2 if level 1 was notified. */
export const notifiedAfter = (record: SQL): SQL => sql`
  case
    when ${dismissedAfter(record)} then ${notifiedBefore} | ((${notifiedBefore} & 1) << 1)
    when ${record}->>'dismissed' then a.notified -- it was dismissed in an older version only
    else ${notifiedBefore} | (1 << (${record}->>'notificationLevel' - 1))
  end`;

export const notifiedBefore = sql`coalesce(a.notified, 0)`;
