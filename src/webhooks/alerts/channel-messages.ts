import { type SQL, sql } from 'drizzle-orm';
import { version } from '../../../package.json';
import { config } from '../../platform/config.ts';
import { type Sealed, unseal } from '../../platform/crypto.ts';
import {
  change,
  type Database,
  jsonList,
  openDatabase,
  statement,
  transaction,
} from '../../platform/db/database.ts';
import { createdAtOf } from '../../platform/db/ids.ts';
import { andNotMoving } from '../../platform/db/moving.ts';
import { inSteps, newBudget } from '../../platform/jobs/budget.ts';
import { receiverProblem } from '../address.ts';
import { callOnce } from '../deliveries/attempt.ts';
import { isBusy, type Outcome } from '../deliveries/policy.ts';
import type { ChannelKind } from './channel-input.ts';
import {
  busyUntilAgeMs,
  channelJob,
  channelTimeoutMs,
  longestBusyMs,
  maxAttempts,
  retryMs,
} from './channel-queue.ts';
import { bodyOf, type ChannelMessage } from './message-formats.ts';
import { failureDescription } from './words.ts';

/** Calls of a step, five at a time: 20 s at most. */
const channelsPerStep = 20;
const callsAtOnce = 5;

const notMoving = (env: Env): SQL => andNotMoving(env, sql`channel_messages.account_id`);

/**
 * Sends the messages that are due, one after the other per channel. A failed one is retried after 1, 4 and 16 minutes,
 * and those behind it wait a minute, so that a channel that hangs costs little. While a channel is busy, as Slack is
 * beyond a message a second, its messages wait without using up attempts. A message is claimed before it is sent; if
 * the run is killed in between, it is sent again. Runs when a message is queued, when a retry is due, and once an hour.
 * Returns how many messages it sent.
 */
export async function sendChannelMessages(env: Env, now = Date.now(), budget = newBudget()): Promise<number> {
  const db = openDatabase(env);
  let sent = 0;
  await inSteps(budget, async () => {
    const claimed = await claim(env, db, now);
    if (claimed.length === 0) return false;
    const ended: Ended[] = [];
    const waiting = [...claimed];
    const worker = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        ended.push({ ...next, ...(await post(env, next, JSON.parse(next.message))) });
    };
    await Promise.all(Array.from({ length: callsAtOnce }, worker));
    await record(db, ended, now);
    sent += ended.filter(({ problem }) => problem === null).length;
    return true;
  });
  await wakeForNext(env, db, now);
  return sent;
}

async function wakeForNext(env: Env, db: Database, now: number): Promise<void> {
  const [next] = await statement<{ at: number | null }>(db)`select min(due_at) as at from channel_messages`;
  if (!next?.at) return;
  const delaySeconds = Math.max(1, Math.ceil((next.at - now) / 1000));
  await env.DELIVERIES.send({ job: channelJob }, { delaySeconds }).catch(() => {}); // the hourly run finds them
}

/** A channel to call. */
export type Target = { channelId: string; kind: ChannelKind; address: string };

type Claimed = Target & { id: string; accountId: string; message: string; attempts: number };
type Ended = Claimed & Posted;

/**
 * Why a message did not arrive, to follow the channel's name; null if it did. `busyMs`: for how long the channel is
 * busy.
 */
export type Posted = { problem: string | null; busyMs?: number };

/** Claims the oldest message of each channel. */
async function claim(env: Env, db: Database, now: number): Promise<Claimed[]> {
  const taken = await statement<Omit<Claimed, 'kind' | 'address'>>(db)`
    update channel_messages set attempts = attempts + 1, due_at = ${now} + (${retryMs} << (2 * attempts))
    where (account_id, channel_id, id) in (
      select account_id, channel_id, id from (
        select account_id, channel_id, id, due_at,
          row_number() over (partition by channel_id order by due_at, id) as place
        from channel_messages indexed by channel_messages_due where due_at <= ${now} ${notMoving(env)})
      where place = 1 order by due_at limit ${channelsPerStep})
    returning channel_id as channelId, id, account_id as accountId, message, attempts`;
  if (taken.length === 0) return [];
  const channels = await statement<Target>(db)`
    select id as channelId, kind, address from alert_channels
    where id in ${jsonList(taken.map(({ channelId }) => channelId))}`;
  return taken.flatMap((message) => {
    const channel = channels.find(({ channelId }) => channelId === message.channelId);
    return channel ? [{ ...channel, ...message }] : [];
  });
}

/** Sends a message to a channel. Never throws. */
export async function post(
  env: Env,
  { channelId, kind, address }: Target,
  message: ChannelMessage,
): Promise<Posted> {
  const { headerKeys, allowLoopbackReceivers: allowLoopback } = config(env);
  const sealed: Sealed = JSON.parse(address);
  const url = await unseal(headerKeys, channelId, sealed).then(
    ({ url }) => url,
    () => undefined,
  );
  if (url === undefined) return { problem: 'has an address that we can no longer decrypt. Enter it again' };
  if (receiverProblem(url, { allowLoopback }))
    return { problem: failureDescription({ result: 'blocked address' }) };
  const headers = { 'Content-Type': 'application/json', 'User-Agent': `FleetDataService/${version}` };
  const body = bodyOf(kind, message, Date.now());
  const outcome = await callOnce(url, { method: 'POST', headers, body }, channelTimeoutMs);
  return { problem: problemOf(outcome), ...busyFor(outcome) };
}

function problemOf(outcome: Outcome): string | null {
  if (outcome.result === 'success') return null;
  if (outcome.result === 'timeout') return `did not respond within ${channelTimeoutMs / 1000} s`;
  const said = 'answer' in outcome ? outcome.answer.trim() : '';
  // Slack gives the reason as one word, such as `channel_is_archived`. Other text may repeat a secret.
  return failureDescription(outcome, 'returned') + (/^[a-z_]{3,60}$/.test(said) ? `: ${said}` : '');
}

function busyFor(outcome: Outcome): Pick<Posted, 'busyMs'> {
  if (outcome.result !== 'status' || !isBusy(outcome.status)) return {};
  const asked = outcome.retryAfter ?? (outcome.status === 429 ? retryMs : undefined);
  return asked === undefined ? {} : { busyMs: Math.min(Math.max(asked, 1000), longestBusyMs) };
}

async function record(db: Database, ended: Ended[], now: number): Promise<void> {
  const rows = JSON.stringify(
    ended.map(({ address, message, busyMs, attempts, ...row }) => {
      const isFree = busyMs !== undefined && now - createdAtOf(row.id) < busyUntilAgeMs;
      return { ...row, isFree, attempts: isFree ? attempts - 1 : attempts, waitMs: busyMs ?? retryMs };
    }),
  );
  await transaction(
    db,
    [
      change(db)`
        delete from channel_messages where (account_id, channel_id, id) in (
          select value->>'accountId', value->>'channelId', value->>'id' from json_each(${rows})
          where value->>'problem' is null or value->>'attempts' >= ${maxAttempts})`,
      change(db)`
        update alert_channels set problem = r.value->>'problem',
          problem_at = iif(r.value->>'problem' is null, null, ${now})
        from json_each(${rows}) r
        where alert_channels.id = r.value->>'channelId' and (problem is not null or r.value->>'problem' is not null)`,
      change(db)`
        update channel_messages set due_at = ${now} + (r.value->>'waitMs'),
          attempts = iif(channel_messages.id = r.value->>'id', r.value->>'attempts', attempts)
        from json_each(${rows}) r
        where account_id = r.value->>'accountId' and channel_id = r.value->>'channelId'
          and r.value->>'problem' is not null
          and (due_at <= ${now} or r.value->>'isFree' and channel_messages.id = r.value->>'id')`,
    ],
    { repeatable: true },
  );
}
