import type { SQL } from 'drizzle-orm';
import { type Database, write } from '../../platform/db/database.ts';

const most = 100;

/** Remembers whom to notify if accidents are false alarms. `news` has `id` and `recipient_id`. */
export const rememberAlerted = (db: Database, news: SQL) =>
  write(db)`
    update accidents set alerted = iif(dismissed, null, (
      select json_group_array(value) from (
        select value from json_each(accidents.alerted) union select value from json_each(n.recipients) limit ${most})))
    from (select id, json_group_array(recipient_id) as recipients from (${news}) group by id) n
    where accidents.id = n.id`;
