import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';

/** How many recipients an accident remembers. */
const most = 100;

/**
 * SQL for the recipients `id` that were notified of an accident and when, `at`, from its column. The time is negative
 * once they know that it is a false alarm. Without times, as the column was at first, it is null.
 */
export const alertedOf = (column: SQL): SQL => sql`(
  select iif(type = 'text', value, key) as id, iif(type = 'text', null, value) as at
  from json_each(${column}))`;

/** SQL for the recipient in `m`, of `json_each` of the column, and for whether they do not know of a false alarm. */
export const alertedId = sql`iif(m.type = 'text', m.value, m.key)`;
export const isUnaware = sql`(m.type = 'text' or m.value > 0)`;

/** Remembers who was notified of accidents, also if they are false alarms. `news` has `id` and `recipient_id`. */
export const rememberAlerted = (db: Database, news: SQL, now: number) =>
  // Set-based: lists in JSON are merged where they are.
  db.run(sql`
    update accidents set alerted = (
      select json_group_object(id, iif(accidents.dismissed, -abs(at), at)) from (
        select id, iif(id in (select value from json_each(n.recipients)), abs(coalesce(at, 1)), coalesce(at, 1)) as at
        from ${alertedOf(sql`accidents.alerted`)}
        union all
        select distinct value, ${now} from json_each(n.recipients)
        where value not in (select id from ${alertedOf(sql`accidents.alerted`)}) limit ${most}))
    from (select id, json_group_array(recipient_id) as recipients from ${news} group by id) n
    where accidents.id = n.id`);
