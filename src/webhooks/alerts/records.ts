import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { change, type Database, openDatabase, statement, transaction } from '../../platform/db/database.ts';
import { andNotMoving } from '../../platform/db/moving.ts';
import { dayMs, hourMs } from '../../platform/durations.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { deleteUpTo, pruning } from '../../platform/jobs/chunks.ts';
import { type MailPart, renderMail } from '../../platform/mail.ts';
import { minuteOf } from '../../platform/times.ts';
import { overlap } from '../notifications/pass.ts';
import { levelNames } from '../notifications/types.ts';
import { maxPerAccountAndDay, sendMails, sentOn } from './mails.ts';
import { counted } from './words.ts';

/** How many changes of an account, how many accounts, and how many due records a step handles. */
const maxChanges = 100;
const maxAccounts = 20;
const maxDue = 200;

/** From this number of emails a day on, an account's records of a minute are combined: half of its limit. */
const groupedFrom = maxPerAccountAndDay / 2;

/** How many records one email names. */
const maxNamed = 20;

/** The wait before a failed email is retried; each further wait is four times as long. */
const retryMs = 5 * 60_000;
const longestRetryMs = 6 * hourMs;

const falseAlarm = 4;

/**
 * Emails people about the accidents and safety events that their rules ask for, and notifies channels by theirs. What
 * is due is written in the transaction that advances in the account's changes, and stays due until it was sent: a
 * killed run loses nothing, and repeats one email at most. Returns how many emails it sent.
 */
export async function sendRecordMails(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let sent = 0;
  await inSteps(budget, async () => {
    const [, , { meta }, due] = await transaction(db, [
      noteDue(env, db, now),
      change(db)`delete from mail_feeds where account_id not in (select account_id from mail_rules)`,
      moveOn(env, db),
      selectDue(env, db, now),
    ]);
    if (due.length > 0) sent += await send(env, db, await claim(db, due, now), now);
    return meta.changes > 0 || due.length === maxDue;
  });
  return sent;
}

/** SQL for whether `sendRecordMails` has work. */
export const recordMailsAreDue = (env: Env, now: number): SQL =>
  sql`exists (select 1 from mail_feeds f where (${hasNews} or ${hasDue(now)}) ${ofOthers(env)})`;

/** How long sent emails are remembered, so that none is repeated. */
const keptMs = 7 * dayMs;

/** Forgets old emails. */
export const pruneRecordMails = pruning((now) => {
  const key = 'account_id, recipient_id, event_id, level';
  return [
    deleteUpTo(now - keptMs, {
      table: 'record_mails',
      key,
      time: 'created_at',
      index: 'record_mails_by_age',
    }),
  ];
});

/** Accounts with rules and unread changes. */
const feedsWithNews = (env: Env): SQL => sql`
  select f.account_id, f.seen from mail_feeds f where ${hasNews} ${ofOthers(env)} order by f.account_id limit ${maxAccounts}`;

const hasNews = sql`exists (select 1 from changes c where c.account_id = f.account_id and c.seq > f.seen)`;

const hasDue = (now: number): SQL =>
  sql`exists (select 1 from record_mails where account_id = f.account_id and due_at <= ${now})`;

const sendsEmail = (env: Env): SQL => (config(env).emailFrom ? sql`true` : sql`false`);

const ofOthers = (env: Env): SQL => andNotMoving(env, sql`f.account_id`);

const nextChanges = sql`
  select seq from changes where account_id = f.account_id and seq > f.seen order by seq limit ${maxChanges}`;

const moveOn = (env: Env, db: Database) =>
  change(db)`
    update mail_feeds as f set seen = (select max(seq) from (${nextChanges}))
    where account_id in (select account_id from (${feedsWithNews(env)}))`;

/**
 * Writes what is due: accident levels and new safety events received within a day and since the rule was made, and
 * false alarms, for those notified of the accident. An unknown vehicle matches every group.
 */
function noteDue(env: Env, db: Database, now: number) {
  const since = sql`max(r.since, ${now - dayMs})`;
  return change(db)`
    insert into record_mails (account_id, recipient_id, event_id, level, due_at, created_at)
    with news as materialized (
      select c.account_id, c.records from (${feedsWithNews(env)}) f
      cross join changes c on c.account_id = f.account_id and c.seq in (${nextChanges})
      where c.action = 'changed' and c.quiet = 0),
    crashes as materialized (
      select a.*, v.groups from news n cross join json_each(n.records, '$.accident') w
      cross join accidents a on a.id = w.value left join vehicles v on v.id = a.vehicle_id)
    select a.account_id, r.recipient_id, a.id, l.value->>'notificationLevel', ${now}, ${now}
    from crashes a cross join json_each(a.levels) l cross join mail_rules r on r.account_id = a.account_id
    where not a.dismissed and r.levels & (1 << (l.value->>'notificationLevel' - 1))
      and l.value->>'receivedAt' >= strftime('%Y-%m-%dT%H:%M:%fZ', ${since} / 1000.0, 'unixepoch')
      and ${overlap(sql`r.groups`, sql`a.groups`)}
    union
    select a.account_id, m.recipient_id, a.id, ${falseAlarm}, ${now}, ${now}
    from crashes a cross join record_mails m on m.account_id = a.account_id and m.event_id = a.id
    where a.dismissed
    union
    select e.account_id, r.recipient_id, e.id, 0, ${now}, ${now}
    from news n cross join json_each(n.records, '$.safetyEvent') w cross join safety_events e on e.id = w.value
    cross join mail_rules r on r.account_id = e.account_id
    where e.event_risk >= r.risk and e.created_at >= ${since} and ${overlap(sql`r.groups`, sql`e.vehicle_groups`)}
    on conflict do nothing`;
}

/** A record to notify a person or channel of. */
type Due = {
  accountId: string;
  recipientId: string;
  eventId: string;
  level: number;
  dueAt: number;
  email: string | null;
  channelId: string | null;
  timeZone: string | null;
  account: string;
  vehicle: string;
  at: number;
  risk: number | null;
  types: string | null;
};

const dueMails = (env: Env, now: number): SQL => sql`
  select m.account_id, m.recipient_id, m.event_id, m.level, m.due_at
  from mail_feeds f cross join record_mails m indexed by record_mails_due
    on m.account_id = f.account_id and m.due_at <= ${now} ${ofOthers(env)}
  order by min(m.level, 1) desc, m.due_at limit ${maxDue}`;

/** What is due, accidents first. Deleted and archived records are skipped. */
const selectDue = (env: Env, db: Database, now: number) =>
  statement<Due>(db)`
    select m.account_id as accountId, m.recipient_id as recipientId, m.event_id as eventId, m.level, m.due_at as dueAt, u.email,
      h.id as channelId, u.time_zone as timeZone, c.name as account, coalesce(e.vehicle_name, v.name, 'VIN ' || a.vin) as vehicle,
      coalesce(e.started_at, a.event_time) as at, e.event_risk as risk, e.translated_incident_types as types
    from (${dueMails(env, now)}) m
    left join portal_users u on u.id = m.recipient_id and u.confirmed_at is not null and ${sendsEmail(env)}
    left join alert_channels h on h.id = m.recipient_id
    left join accounts c on c.id = m.account_id and c.status = 'active'
    left join accidents a on a.id = m.event_id and m.level > 0 left join vehicles v on v.id = a.vehicle_id
    left join safety_events e on e.id = m.event_id and m.level = 0`;

/** Claims what is due for this run; what is not sent becomes due again later, and is given up in the end. */
async function claim(db: Database, due: Due[], now: number): Promise<Due[]> {
  const rows = due.map(({ email, channelId, account, at, ...row }) => ({
    ...row,
    lost: !(email || channelId) || !account || !at,
  }));
  const claimed = await statement<Pick<Due, 'recipientId' | 'eventId' | 'level'>>(db)`
    update record_mails set attempts = attempts + 1,
      due_at = iif(r.value->>'lost' or created_at < ${now - 3 * dayMs}, null,
        ${now} + min(${retryMs} << (2 * min(attempts, 5)), ${longestRetryMs}))
    from json_each(${JSON.stringify(rows)}) r
    where ${isRow} and due_at = r.value->>'dueAt' and r.value->>'lost' = 0
    returning recipient_id as recipientId, event_id as eventId, level`;
  await change(db)`
    update record_mails set due_at = null
    from json_each(${JSON.stringify(rows.filter(({ lost }) => lost))}) r where ${isRow}`;
  const ours = new Set(claimed.map(keyOf));
  return due.filter((row) => ours.has(keyOf(row)));
}

const isRow = sql`account_id = r.value->>'accountId' and recipient_id = r.value->>'recipientId'
  and event_id = r.value->>'eventId' and level = r.value->>'level'`;

const keyOf = ({ recipientId, eventId, level }: Pick<Due, 'recipientId' | 'eventId' | 'level'>): string =>
  `${recipientId} ${eventId} ${level}`;

/** Sends a message per record and recipient, or one per recipient if the account nears its daily limit. */
async function send(env: Env, db: Database, due: Due[], now: number): Promise<number> {
  const { origin } = config(env);
  if (!origin) throw new Error('ORIGIN is not set, so that emails have no links. Run npm run deploy again.');
  const sent = await sentOn(db, Math.floor(now / dayMs));
  const groups = [...Map.groupBy(due, ({ accountId }) => accountId)].flatMap(([accountId, rows]) => {
    const many = (sent.get(accountId) ?? 0) + rows.length > groupedFrom;
    return [
      ...Map.groupBy(rows, ({ recipientId, eventId }) =>
        many ? recipientId : `${recipientId} ${eventId}`,
      ).values(),
    ];
  });
  const mails = groups.flatMap((records) => {
    const [first] = records;
    return first ? [mailOf(first, records, origin)] : [];
  });
  return sendMails(
    env,
    await Promise.all(mails),
    now,
    ({ records }) => change(db)`
      update record_mails set due_at = null from json_each(${JSON.stringify(records)}) r where ${isRow}`,
  );
}

async function mailOf(first: Due, records: Due[], origin: string) {
  const portal = `${origin}/portal`;
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
  const mail = await renderMail(subjectOf(first, records), parts, {
    text: `You get this email because you asked for it in ${first.account}. To change that:`,
    link: { url: `${portal}/settings/notifications`, label: 'Notifications' },
  });
  const { accountId, account } = first;
  return { ...mail, accountId, account, kind: 'record', ...toRecipient(first), records };
}

const toRecipient = ({ email, channelId }: Due) => ({
  emails: email ? [email] : [],
  channels: channelId ? [channelId] : [],
});

function subjectOf(first: Due, records: Due[]): string {
  const newest = records.findLast(({ eventId }) => eventId === first.eventId) ?? first;
  const accidents = new Set(records.filter(({ level }) => level > 0).map(({ eventId }) => eventId)).size;
  const events = records.filter(({ level }) => level === 0).length;
  if (accidents + events === 1) return `${newest.vehicle}: ${whatHappened(newest)}`;
  return [
    ...(accidents > 0 ? [counted(accidents, 'accident', 'accidents')] : []),
    ...(events > 0 ? [counted(events, 'safety event', 'safety events')] : []),
  ].join(' and ');
}

/** "Accident, level 2, verified", "Collision, risk 5". */
function whatHappened({ level, risk, types }: Due): string {
  if (level === 0) return `${JSON.parse(types ?? '[]').join(', ')}, risk ${risk}`;
  if (level === falseAlarm) return 'The accident was a false alarm';
  return `Accident, level ${level}, ${levelNames[level - 1]?.toLowerCase()}`;
}
