import { type SQL, sql } from 'drizzle-orm';
import type { Sealed } from '../../platform/crypto.ts';
import { type Database, statement } from '../../platform/db/database.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { type PlainField, plainColumns, plainFields } from '../fields.ts';
import { isFirst, notificationOf, typeOf } from '../notifications/of-delivery.ts';
import { typeOfLevel } from '../notifications/types.ts';
import type { WebhookInput } from '../schema.ts';
import { type Attempt, burstSeconds, circuitAfter, firstWindow, widestWindow } from './policy.ts';
import type { DeliveryKey, DeliveryMessage } from './queue.ts';

/** How long after the claim a call may start; what has not started by then is released. */
export const startWindowMs = 5_000;

/** How long a claim lasts: longer than the start window, a call (15 s) and recording it. */
export const leaseMs = 30_000;

/** How a webhook is called: its plain fields, and its secrets, encrypted. */
export type CallSettings = Pick<WebhookInput, PlainField> & {
  headers: Sealed;
  /** The secrets that sign its calls; null if there are none. */
  signing: Sealed | null;
  /** The client that gets its access tokens, and the stored token; null if there is none. */
  oauth: Sealed | null;
  oauthToken: Sealed | null;
};

/** A webhook as a worker sees it, with the state of its receiver. */
export type ClaimedWebhook = {
  accountId: string;
  /** Its `CallSettings` as JSON. */
  settings: string;
  /** The most calls that may be in flight now, and ever. */
  window: number;
  ceiling: number;
  /** Whether a wider window would hold more due deliveries. */
  more: boolean;
  /** The operator's limit; null if there is none. */
  maxPerSecond: number | null;
  /** When the limit per second has room again. */
  nextCallAt: number;
  failures: number;
  /** The circuit is open until then. */
  openUntil: number;
  /** When a message wakes the webhook for its retries; null if none does. */
  timerAt: number | null;
};

/** A claimed delivery with its notification; `wanted` is false if the webhook no longer subscribes to it. */
export type Claimed = DeliveryKey & {
  claimedUntil: number;
  attempts: number;
  accountId: string;
  eventId: string;
  type: number;
  level: number;
  data: string;
  /** Whether it is neither a replay nor a test. */
  first: number;
  /** The request that brought the notification, if known. */
  requestId: string | null;
  wanted: boolean;
};

/** The outcome of a claimed delivery; `attempt` is missing if none was made. */
export type Recorded = {
  key: Claimed;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  nextAttemptAt?: number;
  attempt?: Attempt;
};

/**
 * Whose deliveries to claim, how many, when (milliseconds since 1970), and whether only accidents. `known` is the
 * webhook as the worker last saw it, which saves reading limits that it does not have.
 */
export type ClaimRequest = {
  webhookId: string;
  count: number;
  now: number;
  accidentsOnly?: boolean;
  known?: ClaimedWebhook | undefined;
};

/**
 * The statements of one batch that claim up to `count` due deliveries of a webhook: the claimed deliveries, what they
 * use of a limit per second, and the webhook's row. Claims come from a window of the first due deliveries, accidents
 * first. Claimed ones stay in the window until they are recorded, so its size bounds the calls in flight; accidents may
 * exceed it by as much again while events fill it. It is 0 while the circuit is open, and 1 for a probe.
 */
export const claimStatements = (
  db: Database,
  { webhookId, count, now, accidentsOnly = false, known }: ClaimRequest,
) => {
  const due = dueDeliveries(webhookId, now, accidentsOnly ? 'accidents' : 'all');
  const limited = !known || known.maxPerSecond !== null;
  return [
    statement<ClaimedRow>(db)`
      update deliveries set claimed_until = ${now + leaseMs}
      where (webhook_id, id) in (
        select webhook_id, id from (
          select webhook_id, id, claimed_until from ${due} limit ${ofReceiver(webhookId, windowOf(now))})
        where claimed_until <= ${now} limit ${limited ? ofReceiver(webhookId, callsLeft(now, count)) : count})
      returning webhook_id as webhookId, id, claimed_until as claimedUntil, attempts, level,
        ${isFirst(sql`deliveries`)} as first,
        event_id as eventId, account_id as accountId,
        (select json_object('data', n.data, 'requestId', n.request_id,
            'wanted', exists (select 1 from webhook_connections wc
              where wc.connection_id = n.connection_id and wc.webhook_id = deliveries.webhook_id
                and wc.notification_types & ${typeOf('deliveries')}))
          from ${notificationOf('deliveries')} n) as notification`,
    limited ? useUpCalls(db, webhookId, now) : statement(db)`select 0`,
    selectWebhook(db, webhookId, now, known?.window ?? firstWindow),
  ] as const;
};

/** Uses up as many calls of a limit per second as the statement before has claimed. */
const useUpCalls = (db: Database, webhookId: string, now: number) =>
  statement(db)`
    insert into webhook_health (webhook_id, failures, openings, open_until, next_call_at)
    select w.id, 0, 0, 0,
      cast(max(${now}, coalesce(h.next_call_at, 0)) + changes() * 1000.0 / w.max_per_second + 0.999 as integer)
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where changes() > 0 and w.id = ${webhookId} and w.max_per_second is not null
    on conflict (webhook_id) do update set next_call_at = excluded.next_call_at`;

/** The webhook's row, and whether more is due than a window of this size holds. */
const selectWebhook = (db: Database, webhookId: string, now: number, window: number) =>
  statement<WebhookRow>(db)`
    select ${webhookColumns(now)},
      iif(${windowOf(now)} between 1 and ${ceilingOf} - 1,
        exists (select 1 from ${dueDeliveries(webhookId, now)} limit 1 offset ${window}), 0) as more
    from webhooks w left join webhook_health h on h.webhook_id = w.id
    where w.id = ${webhookId} and w.stopped_at is null`;

/** SQL for what a worker sees of `w` and its health `h`. */
const webhookColumns = (now: number): SQL => sql`
  w.account_id as accountId, json_object(${plain}, 'headers', json(w.headers), 'signing', json(w.signing),
    'oauth', json(w.oauth), 'oauthToken', json(w.oauth_token)) as settings,
  coalesce(h.failures, 0) as failures, coalesce(h.open_until, 0) as openUntil, h.timer_at as timerAt,
  w.max_per_second as maxPerSecond, coalesce(h.next_call_at, 0) as nextCallAt,
  ${windowOf(now)} as window, ${ceilingOf} as ceiling`;

/** A call claims nothing for a webhook with more deliveries than this within a lease, and checks so many webhooks. */
const maxRecent = 100;
const maxLookedAt = 10;

/** A call's claim is valid only if D1 runs its transaction this soon: the sweep finds lost ones by id. */
const claimWithinMs = 5_000;

/**
 * SQL for the webhook whose first deliveries the call that creates them claims and works on itself, which saves a round
 * trip and two rows. It is the first with nothing to do, whose receiver is healthy and has no limit, and without such a
 * claim. Null if there is none.
 */
export const readyWebhook = (webhooks: SQL, now: number): SQL => sql`(
  select i.webhook_id from (select webhook_id from ${webhooks} order by webhook_id limit ${maxLookedAt}) i
  join webhooks w on w.id = i.webhook_id and w.stopped_at is null
    and w.max_per_second is null and w.max_in_flight is null
  left join webhook_health h on h.webhook_id = w.id
  where coalesce(h.failures, 0) = 0 and ${windowOf(now)} >= ${firstWindow}
    and unixepoch('subsec') * 1000 < ${now + claimWithinMs}
    and not exists (select 1 from ${dueDeliveries(sql`i.webhook_id`, now)} limit 1)
    and not exists (select 1 from deliveries
      where webhook_id = i.webhook_id and id >= ${firstIdAt(now - leaseMs)} limit 1 offset ${maxRecent})
    and ${firstCallsUntil(sql`i.webhook_id`, now - leaseMs, maxRecent)} <= ${now}
  order by i.webhook_id limit 1)`;

/**
 * SQL for until when deliveries of a webhook are claimed by the calls that created them since a time (milliseconds
 * since 1970): these are in no index, so at most `most` recent ids are read.
 */
const firstCallsUntil = (webhookId: SQL, since: number, most = -1): SQL => sql`coalesce((
  select max(iif(status = 'pending' and next_attempt_at is null, claimed_until, 0)) from (
    select status, next_attempt_at, claimed_until from deliveries
    where webhook_id = ${webhookId} and id >= ${firstIdAt(since)}
    limit ${most})), 0)`;

/** SQL for until when deliveries of a webhook that were claimed `since` then are claimed, up to a time; 0 for none. */
export const claimedUntil = (
  webhookId: SQL,
  {
    now,
    since,
    atMost = Number.MAX_SAFE_INTEGER,
  }: { now: number; since: number; atMost?: number | undefined },
): SQL => sql`(
  select coalesce(max(until), 0) from (
    select ${firstCallsUntil(webhookId, since)} as until
    union all
    select claimed_until from (select claimed_until from ${dueDeliveries(webhookId, now)} limit ${2 * widestWindow}))
  where until between ${since + leaseMs} and ${atMost})`;

/** The deliveries claimed at creation; `unseen` are the new notifications, before their events are written. */
export const selectClaimedAtOnce = (db: Database, webhooks: SQL, unseen: SQL, now: number) => {
  const claimed = sql`d.id >= ${firstIdAt(now)} and d.claimed_until = ${now + leaseMs}`;
  return statement<ClaimedAtOnce>(db)`
    select d.webhook_id as webhookId, d.id, d.claimed_until as claimedUntil, d.attempts, d.level, 1 as first,
      d.event_id as eventId, ${webhookColumns(now)},
      (select json_object('data', n.data, 'requestId', n.request_id, 'wanted', 1) from ${notificationOf()} n) as notification
    from (select webhook_id from ${webhooks} i
      where exists (select 1 from deliveries d where d.webhook_id = i.webhook_id and ${claimed} limit 1)
      order by webhook_id limit 1) c
    join webhooks w on w.id = c.webhook_id left join webhook_health h on h.webhook_id = w.id
    cross join deliveries d on d.webhook_id = c.webhook_id and ${claimed}
    where (d.event_id, d.level) in (select n.value->>'eventId', n.value->>'level' from (${unseen}) n)`;
};
export type ClaimedAtOnce = ClaimedRow & Omit<WebhookRow, 'more'>;

/** A claim taken by the call that created the deliveries, for a worker to continue. */
export type FirstClaim = { webhook: ClaimedWebhook; claimed: Claimed[]; now: number };

/** Work that a call may begin itself with its claim; the queue carries it without. */
export type NewWork = DeliveryMessage & { claim?: FirstClaim };

const plain = sql.raw(plainFields.map((name) => `'${name}', w.${plainColumns[name].name}`).join(', '));

const priorities = { all: sql`(0, 1, 2, 3)`, accidents: sql`(0)`, events: sql`(1, 2, 3)` };

/**
 * A webhook's due deliveries, claimed or not, accidents first. With every priority named, SQLite reads them in index
 * order and skips those that are not due.
 */
export const dueDeliveries = (
  webhookId: SQL | string,
  now: number,
  which: keyof typeof priorities = 'all',
): SQL => sql`
  deliveries indexed by deliveries_due
  where webhook_id = ${webhookId} and status = 'pending' and priority in ${priorities[which]}
    and next_attempt_at <= ${now}
  order by priority, next_attempt_at`;

/** SQL for the most calls that `w` may ever have in flight. */
export const ceilingOf: SQL = sql`coalesce(w.max_in_flight, ${widestWindow})`;

/** SQL for a value of a webhook's receiver; 0 if the webhook is deleted or stopped. */
const ofReceiver = (webhookId: string, value: SQL): SQL => sql`
  coalesce((select ${value} from webhooks w
    left join webhook_health h on h.webhook_id = w.id
    where w.id = ${webhookId} and w.stopped_at is null), 0)`;

/** SQL for the calls that `w`, with the health `h`, may have in flight: none while its account has paused it. */
export const windowOf = (now: number): SQL => sql`
  case when w.paused_at is not null then 0
    when h.failures >= ${circuitAfter} then iif(h.open_until > ${now}, 0, 1)
    else min(coalesce(h.window, ${firstWindow}), ${ceilingOf}) end`;

/** SQL for how many of `count` calls a limit per second leaves; all if there is none. */
const callsLeft = (now: number, count: number): SQL => sql`
  case when w.max_per_second is null then ${count}
    else min(${count}, max(0, cast(max(1, w.max_per_second * ${burstSeconds})
      - max(0, coalesce(h.next_call_at, 0) - ${now}) * w.max_per_second / 1000.0 as integer))) end`;

type WebhookRow = Omit<ClaimedWebhook, 'more'> & { more: number };

type ClaimedRow = Omit<Claimed, 'type' | 'data' | 'requestId' | 'wanted'> & { notification: string | null };

/** The claim of what was claimed at creation, if anything; `more` if other deliveries of the webhook wait. */
export function firstClaim(rows: ClaimedAtOnce[], more: boolean, now: number): FirstClaim | undefined {
  const [webhook] = rows;
  return webhook && { webhook: { ...webhook, more }, claimed: rows.map(asClaimed), now };
}

/** Combines the results of `claimStatements`. The webhook is undefined if it was deleted. */
export const readClaim = (rows: ClaimedRow[], [webhook]: WebhookRow[]) => ({
  webhook: webhook && { ...webhook, more: webhook.more === 1 },
  claimed: rows.map(asClaimed),
});

/** A claimed delivery with what it has of its notification: nothing past retention. */
function asClaimed({ notification, ...row }: ClaimedRow): Claimed {
  const { data, requestId, wanted } = JSON.parse(notification ?? '{"data":"{}","requestId":null}');
  return { ...row, type: typeOfLevel(row.level), data, requestId, wanted: wanted === 1 };
}
