import { type SQL, sql } from 'drizzle-orm';
import { version } from '../../../package.json';
import { sendMail } from '../../accounts/mail.ts';
import { config } from '../../platform/config.ts';
import { type Sealed, unseal } from '../../platform/crypto.ts';
import { change, type Database, jsonList, statement, transaction } from '../../platform/db/database.ts';
import { notMoving } from '../../platform/db/guard.ts';
import { createdAtOf } from '../../platform/db/ids.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { hourMs, minuteMs } from '../../platform/durations.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { fault } from '../../platform/log.ts';
import { renderMail } from '../../platform/mail.ts';
import { receiverProblem } from '../address.ts';
import { callOnce } from '../deliveries/send/call-once.ts';
import type { ChannelKind } from './channel-input.ts';
import { bodyOf } from './message-formats.ts';
import { type AlertMessage, channelTimeoutMs, retriedForMs } from './messages.ts';
import { failureDescription } from './words.ts';

/** The wait after the first attempt; each further wait is four times as long, and at most six hours. */
export const retryMs = minuteMs;
const longestRetryMs = 6 * hourMs;

/** Messages of a step, five at a time: 20 s at most. One of an invocation's six connections is left to D1. */
const messagesPerStep = 20;
const sentAtOnce = 5;

/**
 * Sends the messages that are due, one after the other per recipient. A failed one is retried for three days, and those
 * behind it wait a minute. A message is claimed before it is sent: if the run is killed in between, it is sent again.
 * Returns how many messages it sent.
 */
export async function sendMessages(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let sent = 0;
  await inSteps(budget, async () => {
    const claimed = await claim(db, now);
    if (claimed.length === 0) return false;
    const ended: Ended[] = [];
    const waiting = [...claimed];
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        ended.push({ ...next, problem: await sendOne(env, next) });
    };
    await Promise.all(Array.from({ length: sentAtOnce }, worker));
    await record(db, ended, now);
    sent += ended.filter(({ problem }) => problem === null).length;
    return true;
  });
  return sent;
}

/** SQL for whether `sendMessages` has work. */
export const messagesAreDue = (now: number): SQL => sql`exists (${dueMessages(now)})`;

const dueMessages = (now: number): SQL => sql`
  select account_id, recipient_id, id, due_at from alert_messages indexed by alert_messages_due
  where due_at <= ${now} and ${notMoving(sql`alert_messages.account_id`)}`;

/** A channel to call. */
export type Target = { id: string; kind: ChannelKind; address: string };

/** The channel or the email address of a recipient. */
type Recipient = Target | { id: string; email: string };

type Claimed = {
  id: string;
  accountId: string;
  recipientId: string;
  message: string;
  to: Recipient | undefined;
};
type Ended = Claimed & { problem: Problem };

/** Why a message did not arrive, to follow the channel's name; null if it did. */
type Problem = string | null;

/** Claims the oldest message of each recipient. */
async function claim(db: Database, now: number): Promise<Claimed[]> {
  const taken = await statement<Omit<Claimed, 'to'>>(db)`
    update alert_messages set attempts = attempts + 1,
      due_at = ${now} + min(${retryMs} << (2 * min(attempts, 9)), ${longestRetryMs})
    where (account_id, recipient_id, id) in (
      select account_id, recipient_id, id from (
        select *, row_number() over (partition by recipient_id order by due_at, id) as place
        from (${dueMessages(now)}))
      where place = 1 order by due_at limit ${messagesPerStep})
    returning recipient_id as recipientId, id, account_id as accountId, message`;
  if (taken.length === 0) return [];
  const ids = jsonList(taken.map(({ recipientId }) => recipientId));
  const recipients = await statement<Recipient>(db)`
    select id, email, null as kind, null as address from portal_users
    where id in ${ids} and confirmed_at is not null
    union all select id, null, kind, address from alert_channels where id in ${ids}`;
  return taken.map((message) => ({
    ...message,
    to: recipients.find(({ id }) => id === message.recipientId),
  }));
}

/** Sends a message; one whose recipient was removed is dropped. Never throws. */
async function sendOne(env: Env, { to, message: text }: Claimed): Promise<Problem> {
  const message: AlertMessage = JSON.parse(text); // as it was queued
  if (!to) return null;
  return 'email' in to && to.email ? email(env, to.email, message) : post(env, to as Target, message);
}

async function email(env: Env, to: string, message: AlertMessage): Promise<Problem> {
  const { accountId, account, kind, subject, parts } = message;
  const why =
    kind === 'record'
      ? `you asked for it in ${account}. To change that:`
      : `you can sign in to ${account}. To turn these emails off:`;
  try {
    const { text, html } = await renderMail(subject, parts, {
      text: `You get this email because ${why}`,
      link: { url: `${config(env).origin}/portal/settings/notifications`, label: 'Notifications' },
    });
    await sendMail(env, { to, subject, text, html });
    return null;
  } catch (error) {
    // The error's message may contain the address.
    const code = codeOf(error);
    fault('error', { message: 'An alert could not be sent', accountId, alert: kind, code });
    return `could not be sent: ${code}`;
  }
}

/** The email service's error code, such as E_SENDER_NOT_VERIFIED; null if there is none. */
function codeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[A-Z_]{1,60}$/.test(code) ? code : null;
}

/** Sends a message to a channel. Never throws. */
export async function post(env: Env, { id, kind, address }: Target, message: AlertMessage): Promise<Problem> {
  const { headerKeys, allowLoopbackReceivers: allowLoopback } = config(env);
  const sealed: Sealed = JSON.parse(address);
  const url = await unseal(headerKeys, id, sealed).then(
    ({ url }) => url,
    () => undefined,
  );
  if (url === undefined) return 'has an address that we can no longer decrypt. Enter it again';
  if (receiverProblem(url, { allowLoopback })) return failureDescription({ result: 'blocked address' });
  const headers = { 'Content-Type': 'application/json', 'User-Agent': `FleetDataService/${version}` };
  const body = bodyOf(kind, message, Date.now());
  const outcome = await callOnce(url, { method: 'POST', headers, body }, channelTimeoutMs);
  if (outcome.result === 'success') return null;
  if (outcome.result === 'timeout') return `did not respond within ${channelTimeoutMs / 1000} s`;
  const said = 'answer' in outcome ? outcome.answer.trim() : '';
  // Slack gives the reason as one word, such as `channel_is_archived`. Other text may repeat a secret.
  const { result, status } = outcome; // the address is a secret, and a redirect may repeat it
  return (
    failureDescription({ result, status }, 'returned') + (/^[a-z_]{3,60}$/.test(said) ? `: ${said}` : '')
  );
}

async function record(db: Database, ended: Ended[], now: number): Promise<void> {
  const rows = JSON.stringify(
    ended.map(({ id, accountId, recipientId, problem }) => {
      const isOver = problem === null || now - createdAtOf(id) >= retriedForMs;
      return { id, accountId, recipientId, problem, isOver };
    }),
  );
  await transaction(
    db,
    [
      change(db)`
        delete from alert_messages where (account_id, recipient_id, id) in (
          select value->>'accountId', value->>'recipientId', value->>'id' from json_each(${rows})
          where value->>'isOver')`,
      change(db)`
        update alert_channels set problem = r.value->>'problem',
          problem_at = iif(r.value->>'problem' is null, null, ${now})
        from json_each(${rows}) r
        where alert_channels.id = r.value->>'recipientId' and (problem is not null or r.value->>'problem' is not null)`,
      change(db)`
        update alert_messages set due_at = ${now + retryMs}
        from json_each(${rows}) r
        where account_id = r.value->>'accountId' and recipient_id = r.value->>'recipientId'
          and r.value->>'problem' is not null and due_at <= ${now}`,
    ],
    { repeatable: true },
  );
}
