import { and, eq, lt, lte, type SQL, sql } from 'drizzle-orm';
import { originOf } from '../../core/platform/config.ts';
import { type Database, transaction } from '../../core/platform/db/database.ts';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { dayMs, hourMs, minuteMs } from '../../core/platform/durations.ts';
import { inSteps, newBudget } from '../../core/platform/jobs/budget.ts';
import { fault } from '../../core/platform/log.ts';
import { send } from '../../core/platform/queue.ts';
import { email, post, quotaUsedUp, type SendError, type Target } from './call.ts';
import { outcomeOf } from './channels.ts';
import type { NewsKind } from './pending.ts';
import { alertChannels, alertMessages, alertsSent } from './tables.ts';
import { textsOf } from './texts.ts';

/** The job that sends what `addNews` has added. */
export const messageJob = 'alert messages';

/** Starts it, if a statement has added something. */
export async function wakeSender(env: Env, { meta }: D1Result): Promise<void> {
  if (meta.changes > 0) await send(env.DELIVERIES, [{ job: messageJob }]);
}

export const maxPerAccountAndDay = 200;

/** Emails of all accounts in a day: sign-in links need room. Beyond it, each account is sent a few. */
export const maxEmailsPerDay = 1_000;
export const leastEmailsPerAccount = 10;

/**
 * Counted as emails of nobody's account once the email service has refused one for its own limit of the day, which
 * nobody knows beforehand: no more are tried on that day, and whatever it still takes is for sign-in links.
 */
const allEmails = 1_000_000_000;
const allAccounts = '';

/** The wait after the first attempt; each further wait is four times as long, and at most six hours. */
export const retryMs = minuteMs;
const longestRetryMs = 6 * hourMs;

const retriedForMs = 3 * dayMs;

/** Messages of a step, five at a time: 20 s at most. One of an invocation's six connections is left to D1. */
const messagesPerStep = 20;
const sentAtOnce = 5;

/** How many due messages a step reads: five at most for each recipient of an account. */
const maxRead = 2_000;

/** Sends due messages, accounts in turn, one per recipient at a time. Returns how many it sent. */
export async function sendMessages(
  env: Env,
  now = Date.now(),
  budget = newBudget(),
): Promise<number> {
  const db = openDatabase(env);
  await transaction(db, db.delete(alertsSent).where(lt(alertsSent.day, dayOf(now))));
  let sent = 0;
  let remaining = 0;
  await inSteps(budget, async () => {
    const messages = await transaction(db, selectDue(db, now));
    if (messages.length === 0) return false;
    const portal = `${originOf(env)}/portal`;
    const worker = async () => {
      for (let next = messages.shift(); next; next = messages.shift())
        if (!(await claim(db, next, now))) remaining++;
        else {
          const problem = await deliver(env, db, { ...next, portal }, now);
          if (problem === null) sent++;
          else if (problem === quotaUsedUp) remaining++;
        }
    };
    await Promise.all(Array.from({ length: sentAtOnce }, worker));
    return true;
  });
  if (remaining > 0) fault('error', 'Alerts are over the limit of the day', { left: remaining });
  return sent;
}

const dayOf = (now: number): number => Math.floor(now / dayMs);

/** SQL for whether `sendMessages` has work. */
export const messagesAreDue = (now: number): SQL => sql`exists ${dueMessages(now)}`;

const dueMessages = (now: number): SQL => sql`(
  select account_id, recipient_id, kind, due_at from alert_messages indexed by alert_messages_due
  where due_at <= ${now} and ${ofActiveAccount(sql`alert_messages.account_id`)})`;

type DueMessage = {
  accountId: string;
  recipientId: string;
  kind: NewsKind;
  items: string;
  /** Those that were not deleted meanwhile. */
  known: string;
  total: number;
  addedAt: number;
  attempts: number;
  /** Null for an account that is not active. */
  account: string | null;
  email: string | null;
  timeZone: string | null;
  channel: Target['kind'] | null;
  address: string | null;
};

/** One of a recipient each, of accounts in turn. */
const selectDue = (db: Database, now: number) =>
  // It numbers them, and names an index.
  db.all<DueMessage>(sql`
  select m.account_id as accountId, m.recipient_id as recipientId, m.kind, m.items, m.total,
    ${knownItems} as known, m.added_at as addedAt, m.attempts, a.name as account,
    u.email, u.time_zone as timeZone, h.kind as channel, h.address
  from (
    select *, row_number() over (partition by account_id order by due_at) as turn from (
      select *, row_number() over (partition by recipient_id order by due_at, kind) as place
      from (select * from ${dueMessages(now)} order by due_at limit ${maxRead}))
    where place = 1 order by turn, due_at limit ${messagesPerStep}) d
  cross join alert_messages m
    on m.account_id = d.account_id and m.recipient_id = d.recipient_id and m.kind = d.kind
  left join accounts a on a.id = m.account_id and a.status = 'active'
  left join portal_users u on u.id = m.recipient_id and u.confirmed_at is not null
  left join alert_channels h on h.id = m.recipient_id
  order by d.turn, d.due_at`);

const knownItems = sql`iif(m.kind <> 'record', m.items, (
  select json_group_array(json(i.value)) from json_each(m.items) i
  where exists (select 1 from accidents where id = i.value->>'id')
    or exists (select 1 from safety_events where id = i.value->>'id')))`;

const isOf = ({ accountId, recipientId, kind }: DueMessage) =>
  and(
    eq(alertMessages.accountId, accountId),
    eq(alertMessages.recipientId, recipientId),
    eq(alertMessages.kind, kind),
  );

/** Claims a message until its retry, or until tomorrow beyond today's limits. Returns whether to send it. */
async function claim(db: Database, message: DueMessage, now: number): Promise<boolean> {
  const { accountId, attempts } = message;
  const day = dayOf(now);
  const isMail = message.email ? 1 : 0;
  const retryAt = now + Math.min(retryMs * 4 ** attempts, longestRetryMs);
  if (attempts > 0) {
    const again = { attempts: attempts + 1, dueAt: retryAt };
    await transaction(db, db.update(alertMessages).set(again).where(isOf(message)));
    return true;
  }
  const { counted } = await transaction(db, {
    // A claim: it counts within the limits of the day, or changes nothing.
    counted: db.run(sql`
      insert into alerts_sent (account_id, day, messages, emails)
      select ${accountId}, ${day}, 1, ${isMail}
      where not ${isMail} or ${emailsOf(day)} < ${allEmails}
      on conflict do update set messages = messages + 1, emails = emails + ${isMail}
      where messages < ${maxPerAccountAndDay}
        and (not ${isMail} or emails < ${leastEmailsPerAccount}
          or ${emailsOf(day)} < ${maxEmailsPerDay})`),
    claimed: db
      .update(alertMessages)
      .set({
        attempts: sql`changes()`,
        dueAt: sql`iif(changes(), ${retryAt}, ${(day + 1) * dayMs})`,
      })
      .where(isOf(message)),
  });
  return counted.meta.changes > 0;
}

const emailsOf = (day: number): SQL =>
  sql`(select coalesce(sum(emails), 0) from alerts_sent where day = ${day})`;

type ToSend = DueMessage & { portal: string };

/** Sends a message and takes that out of it: it may have grown meanwhile. */
async function deliver(env: Env, db: Database, message: ToSend, now: number): Promise<SendError> {
  const { recipientId, items, total, addedAt } = message;
  const day = dayOf(now);
  const result = await sendOne(env, message);
  const problem = result ?? null;
  const remaining = sql`(select json_group_array(json(value)) from json_each(${alertMessages.items})
    where value not in (select value from json_each(${items})))`;
  const over = [
    db
      .update(alertMessages)
      .set({
        total: sql`${alertMessages.total} - ${total}`,
        attempts: 0,
        dueAt: now,
        items: remaining,
      })
      .where(isOf(message)),
    db.delete(alertMessages).where(and(isOf(message), lte(alertMessages.total, 0))),
  ];
  const wait = [
    db
      .insert(alertsSent)
      .values({ accountId: allAccounts, day, messages: 0, emails: allEmails })
      .onConflictDoNothing(),
    db
      .update(alertMessages)
      .set({ attempts: 0, dueAt: (day + 1) * dayMs })
      .where(isOf(message)),
  ];
  // What else is due for a recipient with a problem waits.
  const others = and(
    eq(alertMessages.accountId, message.accountId),
    eq(alertMessages.recipientId, recipientId),
    lte(alertMessages.dueAt, now),
  );
  await transaction(db, [
    result === undefined
      ? undefined
      : db
          .update(alertChannels)
          .set(outcomeOf(result, now))
          .where(eq(alertChannels.id, recipientId)),
    problem === null
      ? undefined
      : db
          .update(alertMessages)
          .set({ dueAt: now + retryMs })
          .where(others),
    ...(problem === quotaUsedUp ? wait : []),
    ...(problem === null || now - addedAt >= retriedForMs ? over : []),
  ]);
  return problem;
}

/** Returns why a message did not arrive, and undefined if there is nothing to send, or nobody to send it to. */
async function sendOne(env: Env, message: ToSend): Promise<SendError | undefined> {
  const { accountId, account, recipientId, kind, total, email: to, channel, address } = message;
  if (account === null) return undefined;
  const of = { portal: message.portal, timeZone: message.timeZone ?? 'UTC' };
  const items: object[] = JSON.parse(message.known);
  const remaining = total - JSON.parse(message.items).length + items.length;
  if (remaining === 0) return undefined;
  const texts = textsOf({ kind, items, total: remaining }, of);
  const said = { accountId, account, kind, ...texts };
  if (channel && address) return post(env, { id: recipientId, kind: channel, address }, said);
  return to ? email(env, to, said) : undefined;
}
