import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../core/platform/config.ts';
import type { Database } from '../../core/platform/db/database.ts';

/** What a message is about: webhooks, connections, or accidents and safety events. */
export type NewsKind = 'paused' | 'failed' | 'working' | 'connection' | 'record';

/** How many items a message names, accidents first. It counts the others. */
export const maxNamed = 20;

export const maxPeople = 20;

/**
 * Adds news to recipients' messages, for the transaction that marks it as notified: a kill loses and repeats
 * nothing. `news` is a query of `account_id`, `recipient_id` and `item`. Drops what is for nobody.
 */
export const addNews = (env: Env, db: Database, kind: NewsKind, news: SQL, now: number) =>
  // Set-based: it groups and merges lists.
  db.run(sql`
    insert into alert_messages (account_id, recipient_id, kind, items, total, added_at, due_at)
    select account_id, recipient_id, ${kind}, items, total, ${now}, ${now} from (
      select account_id, recipient_id, count(*) as total,
        json_group_array(json(item)) filter (where place <= ${maxNamed}) as items
      from (
        select *, row_number() over (
          partition by recipient_id order by ${accidentsFirst(sql`item`)}) as place
        from ${news})
      group by account_id, recipient_id) n
    where exists (select 1 from accounts where id = n.account_id and status = 'active')
      and (exists (select 1 from alert_channels where id = n.recipient_id) or ${sendsEmail(env)}
        and exists (select 1 from portal_users
          where id = n.recipient_id and confirmed_at is not null))
    on conflict do update set total = total + excluded.total, added_at = excluded.added_at,
      due_at = iif(attempts > 0, min(due_at, excluded.due_at), due_at),
      items = (select json_group_array(json(value)) from (
        select value from (
          select 0 as later, value from json_each(alert_messages.items)
          union all select 1, value from json_each(excluded.items))
        order by ${accidentsFirst(sql`value`)}, later limit ${maxNamed}))`);

const accidentsFirst = (item: SQL): SQL => sql`min(${item}->>'level', 1) desc`;

const sendsEmail = (env: Env) => (config(env).emailFrom ? 1 : 0);

/** The people and channels of the account `a` that get its alerts, as rows of `r`. */
export const alertedOf: SQL = sql`json_each((
  select json_group_array(id) from (
    select * from (
      select id from portal_users indexed by portal_users_alerted
      where account_id = a.id and confirmed_at is not null and gets_alerts = 1
      order by created_at, id limit ${maxPeople})
    union all select id from alert_channels where account_id = a.id and gets_alerts = 1))) r`;

/** The news about accounts' connections for those people and channels. */
export const newsFor = (alerts: { accountId: string; item: object }[]): SQL => sql`(
  select a.id as account_id, r.value as recipient_id, i.value->'item' as item
  from json_each(${JSON.stringify(alerts)}) i cross join accounts a on a.id = i.value->>'accountId'
  cross join ${alertedOf})`;
