import { and, gt, inArray, notInArray, type SQL, sql } from 'drizzle-orm';
import { groupKeysOfVehicle } from '../../core/fleet/lists/group-keys.ts';
import { type Database, jsonList, transaction } from '../../core/platform/db/database.ts';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs } from '../../core/platform/durations.ts';
import { inSteps, newBudget } from '../../core/platform/jobs/budget.ts';
import { overlap } from '../../core/webhooks/notifications/pass.ts';
import { newsMs } from '../../core/webhooks/notifications/types.ts';
import { addNews } from './pending.ts';
import { wakeSender } from './sending.ts';
import { mailFeeds, mailRules } from './tables.ts';
import { falseAlarm } from './texts.ts';

/** How many accounts a step handles, and how many changes of each: the first, and others up to so many records. */
const maxAccounts = 3;
const maxChanges = 50;
const maxRecords = 250;

/** Notifies of what rules ask for, in the transaction that advances in the accounts' changes. */
export async function sendRecordAlerts(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<void> {
  const db = openDatabase(env);
  const ruled = db.select({ accountId: mailRules.accountId }).from(mailRules);
  await transaction(db, db.delete(mailFeeds).where(notInArray(mailFeeds.accountId, ruled)));
  let last = '';
  await inSteps(budget, async () => {
    const next = db
      .select({ id: mailFeeds.accountId })
      .from(mailFeeds)
      .where(and(gt(mailFeeds.accountId, last), hasNews, isSettled))
      .orderBy(mailFeeds.accountId)
      .limit(maxAccounts);
    const feeds = await transaction(db, next);
    const isRoundOver = feeds.length === 0 && last !== '';
    last = feeds.at(-1)?.id ?? '';
    if (feeds.length === 0) return isRoundOver;
    const ids = jsonList(feeds.map(({ id }) => id));
    const statements = {
      added: addNews(env, db, 'record', newsOf(ids, now), now),
      remembered: remember(db, ids, now),
      advanced: advance(db, ids),
    };
    const { added } = await transaction(db, statements, { repeatable: true });
    await wakeSender(env, added);
    return true;
  });
}

const isSettled = ofActiveAccount(sql`mail_feeds.account_id`);

const hasNews = sql`exists (
  select 1 from changes c where c.account_id = mail_feeds.account_id and c.seq > mail_feeds.seen)`;

/** SQL for whether `sendRecordAlerts` has work. */
export const recordAlertsAreDue = (): SQL =>
  sql`exists (select 1 from mail_feeds where ${hasNews} and ${isSettled})`;

/** The changes of a feed that a step handles. */
const nextChanges = sql`(
  select seq from (
    select seq, sum(records) over (order by seq) - records as before from (
      select seq, coalesce(json_array_length(records, '$.accident'), 0)
        + coalesce(json_array_length(records, '$.safetyEvent'), 0) as records
      from changes where account_id = mail_feeds.account_id and seq > mail_feeds.seen
      order by seq limit ${maxChanges}))
  where before < ${maxRecords})`;

const advance = (db: Database, accountIds: SQL) =>
  db
    .update(mailFeeds)
    .set({ seen: sql`coalesce((select max(seq) from ${nextChanges}), ${mailFeeds.seen})` })
    .where(inArray(mailFeeds.accountId, accountIds));

/** The unread changes of accounts, with the time `at` that the records have which came in by them. */
const unread = (accountIds: SQL): SQL => sql`
  unread as materialized (
    select c.account_id, c.seq - c.lag as at, c.records from mail_feeds
    cross join changes c on c.account_id = mail_feeds.account_id and c.seq in ${nextChanges}
    where mail_feeds.account_id in ${accountIds} and c.action = 'changed' and c.quiet = 0),
  crashes as materialized (
    select a.*, n.at, ${groupKeysOfVehicle} as group_keys,
      coalesce(v.name, 'VIN ' || nullif(a.vin, ''), 'Unknown vehicle') as vehicle
    from unread n cross join json_each(n.records, '$.accident') w
    cross join accidents a on a.id = w.value left join vehicles v on v.id = a.vehicle_id)`;

/** Levels of a day, since the rule was made, and false alarms. Unknown vehicles match every group. */
const newsOfAccidents = (now: number): SQL => sql`(
  select a.account_id, r.recipient_id, a.id, ${itemOf(sql`l.value->>'notificationLevel'`)} as item
  from crashes a cross join json_each(a.levels) l
  cross join mail_rules r on r.account_id = a.account_id
  where not a.dismissed and r.levels & (1 << (l.value->>'notificationLevel' - 1))
    and l.value->>'receivedAt' = strftime('%Y-%m-%dT%H:%M:%fZ', a.at / 1000.0, 'unixepoch')
    and a.at >= max(r.since, ${now - dayMs}) and ${overlap(sql`r.group_keys`, sql`a.group_keys`)}
  union
  select a.account_id, m.recipient_id, a.id, ${itemOf(sql`${falseAlarm}`)}
  from crashes a cross join accident_alerts m on m.accident_id = a.id
  where a.dismissed and not m.dismissed)`;

/** The statement that remembers who is notified of the accidents in unread changes. */
const remember = (db: Database, accountIds: SQL, now: number) =>
  // Set-based: over a CTE that is materialized.
  db.run(sql`
    insert into accident_alerts (accident_id, recipient_id, account_id, at, dismissed)
    with ${unread(accountIds)}
    select distinct n.id, n.recipient_id, n.account_id, ${now}, a.dismissed
    from ${newsOfAccidents(now)} n cross join accidents a on a.id = n.id where true
    on conflict do update set dismissed = excluded.dismissed`);

const itemOf = (level: SQL): SQL =>
  sql`json_object('level', ${level}, 'id', a.id, 'at', a.event_time, 'vehicle', a.vehicle)`;

/** SQL for the records to alert people of: accidents, and safety events that were less than a week old. */
const newsOf = (accountIds: SQL, now: number): SQL => sql`(
  with ${unread(accountIds)}
  select account_id, recipient_id, item from ${newsOfAccidents(now)}
  union all
  select e.account_id, r.recipient_id, json_object('level', 0, 'id', e.id, 'at', e.started_at,
    'vehicle', e.vehicle_name, 'risk', e.event_risk, 'types', json(e.translated_incident_types))
  from unread n cross join json_each(n.records, '$.safetyEvent') w
  cross join safety_events e on e.id = w.value and e.created_at = n.at
  cross join mail_rules r on r.account_id = e.account_id
  left join vehicles v on v.id = e.vehicle_id and r.group_keys is not null
  where e.withdrawn is not 1 and e.event_risk >= r.risk and n.at >= max(r.since, ${now - dayMs})
    and e.started_at >= e.created_at - ${newsMs}
    and ${overlap(sql`r.group_keys`, groupKeysOfVehicle)})`;
