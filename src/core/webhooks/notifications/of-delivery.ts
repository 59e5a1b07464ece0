import { type SQL, sql } from 'drizzle-orm';
import { ACCIDENT, EVENT, EVENT_LEVEL } from './types.ts';

/**
 * SQL for the notification of the delivery `d`, as a table: of one row, or none past retention. That of an event follows
 * from the event, unless it has changed since.
 */
export const notificationOf = (d: 'd' | 'deliveries' = 'd'): SQL =>
  sql.raw(`(
    select coalesce(n.connection_id, e.connection_id) as connection_id,
      coalesce(n.request_id, e.request_id) as request_id, coalesce(n.data, e.data) as data
    from (select 1) left join notifications n on n.event_id = ${d}.event_id and n.level = ${d}.level
    left join event_notifications e on n.event_id is null and ${d}.level = ${EVENT_LEVEL} and e.event_id = ${d}.event_id
    where coalesce(n.connection_id, e.connection_id) is not null)`);

export const typeOf = (d: 'd' | 'deliveries' = 'd'): SQL =>
  sql.raw(`iif(${d}.level = ${EVENT_LEVEL}, ${EVENT}, ${ACCIDENT})`);

/** SQL for whether waits are counted: not of tests, or of replays, which had attempts. */
export const isFirst = (d: SQL): SQL => sql`
  (not ${d}.is_test and json_array_length(${d}.log) + ${d}.attempts_omitted <= ${d}.attempts)`;
