import { type SQL, sql } from 'drizzle-orm';
import { groupKeysOfVehicle } from '../../fleet/lists/group-keys.ts';
import { config } from '../../platform/config.ts';
import { change, type Database, statement, transaction } from '../../platform/db/database.ts';
import { notMoving } from '../../platform/db/guard.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { dayMs } from '../../platform/durations.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { deleteUpTo, pruning } from '../../platform/jobs/chunks.ts';
import type { MailPart } from '../../platform/mail.ts';
import { minuteOf } from '../../platform/times.ts';
import { overlap } from '../notifications/pass.ts';
import { levelNames, newsMs } from '../notifications/types.ts';
import { type Notice, portalOf, queueMessages } from './messages.ts';

/** How many changes of an account, how many accounts, and how many due records a step handles. */
const maxChanges = 100;
const maxAccounts = 20;
const maxDue = 200;

/** How many records one message names. */
const maxNamed = 20;

const falseAlarm = 4;

/**
 * Notifies people and channels of the accidents and safety events that their rules ask for. What is due is written in
 * the transaction that advances in the account's changes, and stays due until the transaction that queues a message of
 * it: a killed run loses and repeats nothing. Returns how many messages it queued.
 */
export async function sendRecordMails(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let queued = 0;
  await inSteps(budget, async () => {
    const [, , { meta }, due] = await transaction(db, [
      noteDue(db, now),
      change(db)`delete from mail_feeds where account_id not in (select account_id from mail_rules)`,
      moveOn(db),
      selectDue(env, db, now),
    ]);
    if (due.length > 0) queued += await queue(env, due, now);
    return meta.changes > 0 || due.length === maxDue;
  });
  return queued;
}

const isSettled = notMoving(sql`f.account_id`);

const hasNews = sql`exists (select 1 from changes c where c.account_id = f.account_id and c.seq > f.seen)`;

/** Accounts with rules and unread changes. */
const feedsWithNews = sql`
  select f.account_id, f.seen from mail_feeds f where ${hasNews} and ${isSettled}
  order by f.account_id limit ${maxAccounts}`;

/** SQL for whether `sendRecordMails` has work. */
export const recordMailsAreDue = (now: number): SQL => sql`
  exists (select 1 from mail_feeds f where (${hasNews}
      or exists (select 1 from record_mails where account_id = f.account_id and due_at <= ${now}))
    and ${isSettled})`;

/** How long sent emails are remembered, so that none is repeated. */
const keptMs = 7 * dayMs;

/** Forgets old emails. */
export const pruneRecordMails = pruning((now) => [
  deleteUpTo(now - keptMs, {
    table: 'record_mails',
    key: 'account_id, recipient_id, event_id, level',
    time: 'created_at',
    index: 'record_mails_by_age',
  }),
]);

const nextChanges = sql`
  select seq from changes where account_id = f.account_id and seq > f.seen order by seq limit ${maxChanges}`;

const moveOn = (db: Database) =>
  change(db)`
    update mail_feeds as f set seen = (select max(seq) from (${nextChanges}))
    where account_id in (select account_id from (${feedsWithNews}))`;

/**
 * Writes what is due: accident levels and new safety events received within a day and since the rule was made, but no
 * events that were a week old by then; and false alarms, for those notified of the accident. An unknown vehicle matches
 * every group.
 */
function noteDue(db: Database, now: number) {
  const since = sql`max(r.since, ${now - dayMs})`;
  return change(db)`
    insert into record_mails (account_id, recipient_id, event_id, level, due_at, created_at)
    with news as materialized (
      select c.account_id, c.records from (${feedsWithNews}) f
      cross join changes c on c.account_id = f.account_id and c.seq in (${nextChanges})
      where c.action = 'changed' and c.quiet = 0),
    crashes as materialized (
      select a.*, ${groupKeysOfVehicle} as group_keys from news n cross join json_each(n.records, '$.accident') w
      cross join accidents a on a.id = w.value left join vehicles v on v.id = a.vehicle_id)
    select a.account_id, r.recipient_id, a.id, l.value->>'notificationLevel', ${now}, ${now}
    from crashes a cross join json_each(a.levels) l cross join mail_rules r on r.account_id = a.account_id
    where not a.dismissed and r.levels & (1 << (l.value->>'notificationLevel' - 1))
      and l.value->>'receivedAt' >= strftime('%Y-%m-%dT%H:%M:%fZ', ${since} / 1000.0, 'unixepoch')
      and ${overlap(sql`r.group_keys`, sql`a.group_keys`)}
    union
    select a.account_id, m.recipient_id, a.id, ${falseAlarm}, ${now}, ${now}
    from crashes a cross join record_mails m on m.account_id = a.account_id and m.event_id = a.id
    where a.dismissed
    union
    select e.account_id, r.recipient_id, e.id, 0, ${now}, ${now}
    from news n cross join json_each(n.records, '$.safetyEvent') w cross join safety_events e on e.id = w.value
    cross join mail_rules r on r.account_id = e.account_id
    left join vehicles v on v.id = e.vehicle_id and r.group_keys is not null
    where e.event_risk >= r.risk and e.created_at >= ${since} and e.started_at >= e.created_at - ${newsMs}
      and ${overlap(sql`r.group_keys`, groupKeysOfVehicle)}
    on conflict do nothing`;
}

/** A record to notify a person or channel of. */
type Due = {
  accountId: string;
  recipientId: string;
  eventId: string;
  level: number;
  timeZone: string | null;
  account: string;
  vehicle: string;
  at: number;
  risk: number | null;
  types: string | null;
  /** Whether the recipient, the account and the record are still there. */
  isKnown: number;
};

/** What is due, accidents first. */
const selectDue = (env: Env, db: Database, now: number) =>
  statement<Due>(db)`
    select m.account_id as accountId, m.recipient_id as recipientId, m.event_id as eventId, m.level,
      u.time_zone as timeZone, c.name as account,
      coalesce(e.vehicle_name, v.name, 'VIN ' || nullif(a.vin, ''), 'Unknown vehicle') as vehicle,
      coalesce(e.started_at, a.event_time) as at, e.event_risk as risk, e.translated_incident_types as types,
      coalesce(u.id, h.id) is not null and c.id is not null and coalesce(e.id, a.id) is not null as isKnown
    from (
      select m.* from mail_feeds f cross join record_mails m indexed by record_mails_due
        on m.account_id = f.account_id and m.due_at <= ${now} and ${isSettled}
      order by min(m.level, 1) desc, m.due_at limit ${maxDue}) m
    left join portal_users u on u.id = m.recipient_id and u.confirmed_at is not null
      and ${config(env).emailFrom ? 1 : 0}
    left join alert_channels h on h.id = m.recipient_id
    left join accounts c on c.id = m.account_id and c.status = 'active'
    left join accidents a on a.id = m.event_id and m.level > 0 left join vehicles v on v.id = a.vehicle_id
    left join safety_events e on e.id = m.event_id and m.level = 0`;

/**
 * Queues a message per recipient. What is beyond the limit of the day stays due until the next one. Deleted and archived
 * records are skipped.
 */
async function queue(env: Env, due: Due[], now: number): Promise<number> {
  const known = due.filter(({ isKnown }) => isKnown);
  const notices = [...Map.groupBy(known, ({ recipientId }) => recipientId).values()].flatMap((records) => {
    const [first] = records;
    return first ? [noticeOf(first, records, portalOf(env))] : [];
  });
  const db = openDatabase(env);
  const tomorrow = (Math.floor(now / dayMs) + 1) * dayMs;
  return queueMessages(env, notices, now, (left) => {
    const waiting = new Set([...left].flatMap(({ records }) => records));
    const rows = due.map((record) => {
      const { accountId, recipientId, eventId, level } = record;
      const dueAt = waiting.has(record) ? tomorrow : null;
      return { accountId, recipientId, eventId, level, dueAt };
    });
    return [
      change(db)`
        update record_mails set due_at = r.value->>'dueAt' from json_each(${JSON.stringify(rows)}) r
        where account_id = r.value->>'accountId' and recipient_id = r.value->>'recipientId'
          and event_id = r.value->>'eventId' and level = r.value->>'level'`,
    ];
  });
}

function noticeOf(first: Due, records: Due[], portal: string): Notice & { records: Due[] } {
  const others = records.length - maxNamed;
  const parts: MailPart[] = records.slice(0, maxNamed).map((record) => ({
    name: record.vehicle,
    text: `${whatHappened(record)}, ${minuteOf(record.at, record.timeZone ?? 'UTC')}.`,
    link: {
      url: `${portal}/${record.level === 0 ? 'events' : 'accidents'}/${record.eventId}?at=${record.at}`,
      label: record.level === 0 ? 'Open the safety event' : 'Open the accident',
    },
  }));
  if (others > 0)
    parts.push({ text: `And ${others} more:`, link: { url: portal, label: 'Open the portal' } });
  const { accountId, account, recipientId } = first;
  const more = records.length > 1 ? ` and ${records.length - 1} more` : '';
  const subject = `${first.vehicle}: ${whatHappened(first)}${more}`;
  return { accountId, account, kind: 'record', subject, parts, recipients: [recipientId], records };
}

/** "Accident, level 2, verified", "Collision, risk 5". */
function whatHappened({ level, risk, types }: Due): string {
  if (level === 0) return `${JSON.parse(types ?? '[]').join(', ')}, risk ${risk}`;
  if (level === falseAlarm) return 'The accident was a false alarm';
  return `Accident, level ${level}, ${levelNames[level - 1]?.toLowerCase()}`;
}
