import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/database.ts';
import { firstIdAtSql } from '../../../platform/db/id-sql.ts';
import { ACCIDENT } from '../../notifications/types.ts';
import { levelWaitMs } from '../policy.ts';

type Level = { eventId: string; level: number };

const lastLevel = 3;

/** Makes new levels wait up to a minute for a lower one that is pending for the same webhook. */
export const holdLevels = (
  db: Database,
  levels: SQL,
  webhooks: SQL,
  createdAt: number,
  now: number,
) =>
  // Set-based, with aliases of the changed table.
  db.run(sql`
    update deliveries set next_attempt_at = ${now + levelWaitMs}
    where (webhook_id, id) in (
      select d.webhook_id, d.id
      from ${levels} n
      cross join notifications own on own.event_id = n.value->>'eventId'
        and own.level = n.value->>'level' and own.created_at = ${createdAt}
      cross join notifications below on below.event_id = own.event_id
        and below.level between 1 and own.level - 1 and below.created_at > ${now - levelWaitMs}
      cross join ${webhooks} w
      cross join deliveries b on ${deliveryOf('b', 'below')}
        and b.webhook_id = w.webhook_id and b.status = 'pending'
      cross join deliveries d on ${deliveryOf('d', 'own')}
        and d.webhook_id = w.webhook_id and d.status = 'pending'
      where d.attempts = 0 and d.claimed_until = 0)`);

/** Selects the levels that waited for these, which have ended; those of tests wait for their time. */
export const nextLevels = (
  webhookId: string,
  ended: (Level & { type: number })[],
  now: number,
): SQL | undefined => {
  const levels = ended.filter(({ type, level }) => type === ACCIDENT && level < lastLevel);
  if (levels.length === 0) return undefined;
  return sql`(
    select d.webhook_id, d.id
    from json_each(${JSON.stringify(levels.map(({ eventId, level }) => ({ eventId, level })))}) n
    cross join deliveries d on d.webhook_id = ${webhookId} and d.id = (
      select b.id from notifications later
      cross join deliveries b on ${deliveryOf('b', 'later')}
        and b.webhook_id = ${webhookId} and b.status = 'pending'
      where later.event_id = n.value->>'eventId' and later.level > n.value->>'level'
      order by later.level limit 1)
    where d.attempts = 0 and d.next_attempt_at > ${now}
      and d.id < ${firstIdAtSql(sql`(d.next_attempt_at - ${levelWaitMs} + 1)`)})`;
};

/** SQL that finds a delivery by its notification, whose id has its time. */
const deliveryOf = (delivery: string, notification: string): SQL => {
  const [d, n] = [sql.identifier(delivery), sql.identifier(notification)];
  return sql`${d}.id >= ${firstIdAtSql(sql`${n}.created_at`)}
    and ${d}.id < ${firstIdAtSql(sql`(${n}.created_at + 1)`)}
    and ${d}.event_id = ${n}.event_id and ${d}.level = ${n}.level`;
};
