import { type SQL, sql } from 'drizzle-orm';
import { type Database, openDatabase, statement, transaction } from '../db/database.ts';
import type { Sealed } from '../sealing.ts';
import { countEndings } from './counts.ts';
import { circuitAfter, circuitFirstMs, circuitLongestMs, type Outcome } from './policy.ts';
import type { DeliveryKey } from './queue.ts';

/** How long after the claim a call may start; what has not started by then is put back. */
export const startWindowMs = 5_000;

/** How long a claim holds: well over the start window, the duration of a call (10 s) and of recording it. */
export const leaseMs = 30_000;

/** A claimed delivery with its notification and its webhook as they are now; no webhook: cancel it. */
export type Claimed = DeliveryKey & {
  claimedUntil: number;
  attempts: number;
  accountId: string;
  type: number;
  data: string;
  /** The request that brought the notification in, if known. */
  requestId: string | null;
  webhook: { url: string; httpVerb: string; headers: Sealed } | null;
  /** How many attempts of the webhook's receiver have failed in a row. */
  failures: number;
  /** True for the one delivery that probes whether a receiver is back. */
  probe: boolean;
};

/** What a claim found: deliveries to attempt, and those that wait until an open circuit lets a probe through. */
export type Claims = { claimed: Claimed[]; deferred: { key: DeliveryKey; at: number }[] };

/**
 * Claims those of `keys` that are due and unclaimed, and loads what is to be sent. Claims make repeated wake-ups
 * harmless. The webhook is null if it is gone or no longer subscribes to the notification's type and connection
 * (spec 4.4). While a webhook's circuit is open, its deliveries are postponed without an attempt; once it has been
 * open long enough, exactly one goes through as the probe. Circuits take a second round trip, which only batches
 * with a failing receiver pay.
 */
export async function claim(db: Database, keys: DeliveryKey[], now: number): Promise<Claims> {
  const webhookIds = JSON.stringify([...new Set(keys.map(({ webhookId }) => webhookId))]);
  const [webhooks, healthy] = await transaction(db, [
    statement<WebhookRow>(
      db,
      sql`
      select w.id, w.url, w.http_verb as httpVerb, w.headers, coalesce(h.failures, 0) as failures
      from json_each(${webhookIds}) wanted cross join webhooks w on w.id = wanted.value
      left join webhook_health h on h.webhook_id = w.id`,
    ),
    hold(
      db,
      keys,
      now,
      sql`and not exists (select 1 from webhook_health h
        where h.webhook_id = deliveries.webhook_id and h.failures >= ${circuitAfter})`,
    ),
  ]);
  const byId = new Map(webhooks.map(({ id, ...webhook }) => [id, webhook]));
  const isFailing = ({ webhookId }: DeliveryKey) => (byId.get(webhookId)?.failures ?? 0) >= circuitAfter;
  const failing = await claimFailing(db, keys.filter(isFailing), now);
  return {
    claimed: [
      ...healthy.map((row) => claimedOf(row, byId.get(row.webhookId), false)),
      ...failing.rows.map((row) => claimedOf(row, byId.get(row.webhookId), failing.probes.has(row.id))),
    ],
    deferred: failing.deferred,
  };
}

/** The same for deliveries to failing receivers: what their circuits let through. */
async function claimFailing(db: Database, keys: DeliveryKey[], now: number) {
  if (keys.length === 0) return { rows: [], probes: new Set<string>(), deferred: [] };
  const webhookIds = JSON.stringify([...new Set(keys.map(({ webhookId }) => webhookId))]);
  const wanted = sql`(webhook_id, id) in (
      select value->>'webhookId', value->>'id' from json_each(${JSON.stringify(keys)}))
    and status = 'pending' and next_attempt_at <= ${now} and claimed_until <= ${now}`;
  const [probes, deferred, rows] = await transaction(db, [
    statement<{ id: string }>(
      db,
      sql`
      update webhook_health set open_until = ${now + leaseMs},
        probe_id = (select min(id) from deliveries
          where deliveries.webhook_id = webhook_health.webhook_id and ${wanted})
      where webhook_id in (select value from json_each(${webhookIds}))
        and failures >= ${circuitAfter} and open_until <= ${now}
        and exists (select 1 from deliveries
          where deliveries.webhook_id = webhook_health.webhook_id and ${wanted})
      returning probe_id as id`,
    ),
    statement<DeliveryKey & { at: number; status: string }>(
      db,
      sql`
      update deliveries set
        status = iif(give_up_at <= ${now}, 'failed', 'pending'),
        finished_at = iif(give_up_at <= ${now}, ${now}, null),
        next_attempt_at = (select open_until + abs(random() % 5000) from webhook_health h
          where h.webhook_id = deliveries.webhook_id)
      where webhook_id in (
          select webhook_id from webhook_health
          where webhook_id in (select value from json_each(${webhookIds})) and open_until > ${now})
        and id not in (
          select probe_id from webhook_health
          where webhook_id in (select value from json_each(${webhookIds})) and probe_id is not null)
        and ${wanted}
      returning webhook_id as webhookId, id, next_attempt_at as at, status`,
    ),
    hold(db, keys, now, sql.empty()),
  ]);
  return {
    rows,
    probes: new Set(probes.map(({ id }) => id)),
    deferred: deferred
      .filter(({ status }) => status === 'pending')
      .map(({ webhookId, id, at }) => ({ key: { webhookId, id }, at })),
  };
}

/** The claim itself, of those that also meet `condition`, with the notification and whether it is still wanted. */
const hold = (db: Database, keys: DeliveryKey[], now: number, condition: SQL) =>
  statement<ClaimedRow>(
    db,
    sql`
    update deliveries set claimed_until = ${now + leaseMs} from json_each(${JSON.stringify(keys)}) k
    where deliveries.webhook_id = k.value->>'webhookId' and deliveries.id = k.value->>'id'
      and status = 'pending' and next_attempt_at <= ${now} and claimed_until <= ${now} ${condition}
    returning webhook_id as webhookId, id, claimed_until as claimedUntil, attempts,
      account_id as accountId,
      (select json_object('type', n.type, 'data', n.data, 'requestId', n.request_id,
          'subscribed', exists (select 1 from webhook_connections wc
            where wc.connection_id = n.connection_id and wc.webhook_id = deliveries.webhook_id
              and wc.notification_types & n.type))
        from notifications n
        where n.event_id = deliveries.event_id and n.level = deliveries.level) as notification`,
  );

type WebhookRow = { id: string; url: string; httpVerb: string; headers: string; failures: number };

type ClaimedRow = DeliveryKey & {
  claimedUntil: number;
  attempts: number;
  accountId: string;
  notification: string | null;
};

function claimedOf(
  { notification, ...row }: ClaimedRow,
  webhook: Omit<WebhookRow, 'id'> | undefined,
  probe: boolean,
): Claimed {
  const { subscribed, ...loaded } = notification
    ? JSON.parse(notification)
    : { type: 0, data: '{}', requestId: null, subscribed: 0 };
  const { failures = 0, headers = '', ...receiver } = webhook ?? {};
  return {
    ...row,
    ...loaded,
    webhook: webhook && subscribed ? { ...receiver, headers: JSON.parse(headers) } : null,
    failures,
    probe,
  };
}

/** One attempt of a delivery, as its row keeps it. Times are milliseconds; nothing of the request is kept. */
export type Attempt = { at: number; durationMs: number } & Outcome;

/** The outcome of a claimed delivery; `attempt` is missing if none was made. */
export type Recorded = {
  key: Claimed;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  nextAttemptAt?: number;
  attempt?: Attempt;
};

/** What a batch's attempts say of a webhook's receiver: failures in a row at the end, and any success before them. */
export type ReceiverReport = { webhookId: string; failures: number; succeeded: boolean; probe: boolean };

/**
 * Records outcomes and releases the claims, where they still hold: what another consumer has claimed since is its.
 * Also opens and closes circuits: five failures in a row open one, for 30 seconds first, twice as long each time
 * after that, up to 15 minutes; a success closes it.
 */
export async function record(
  db: Database,
  outcomes: Recorded[],
  reports: ReceiverReport[],
  now: number,
): Promise<void> {
  const rows = outcomes.map(({ key, status, nextAttemptAt, attempt }) => ({
    webhookId: key.webhookId,
    id: key.id,
    claimedUntil: key.claimedUntil,
    status,
    nextAttemptAt,
    attempted: attempt ? 1 : 0,
    attempt,
  }));
  const outcomesRecorded = statement(
    db,
    sql`
      update deliveries set
        status = r.value->>'status',
        attempts = attempts + (r.value->>'attempted'),
        next_attempt_at = coalesce(r.value->>'nextAttemptAt', next_attempt_at),
        claimed_until = 0,
        finished_at = case when r.value->>'status' <> 'pending' then ${now} end,
        log = case when r.value->>'attempted' then json_insert(log, '$[#]', json(r.value->>'attempt'))
          else log end
      from json_each(${JSON.stringify(rows)}) r
      where webhook_id = r.value->>'webhookId' and deliveries.id = r.value->>'id'
        and status = 'pending' and claimed_until = r.value->>'claimedUntil'`,
  );
  const byWebhook = Object.entries(Object.groupBy(rows, ({ webhookId }) => webhookId));
  const counted = byWebhook.map(([webhookId, endings = []]) => countEndings(db, webhookId, endings, now));
  const circuits = reports.length === 0 ? [] : [moveCircuits(db, reports, now)];
  const [first = outcomesRecorded, ...rest] = [...counted, outcomesRecorded, ...circuits];
  await transaction(db, [first, ...rest]);
}

const moveCircuits = (db: Database, reports: ReceiverReport[], now: number) => {
  const closing = sql`(r.value->>'succeeded')`;
  const failures = sql`(iif(${closing}, 0, coalesce(webhook_health.failures, 0)) + (r.value->>'failures'))`;
  const opens = sql`(${failures} >= ${circuitAfter} and (r.value->>'probe' or coalesce(webhook_health.open_until, 0) <= ${now}))`;
  return statement(
    db,
    sql`
    insert into webhook_health (webhook_id, failures, openings, open_until)
    select n.webhook_id, n.failures, n.openings, n.open_until from (
      select w.id as webhook_id, f.failures,
        case when f.opens then f.openings + 1 when f.closes then 0 else f.openings end as openings,
        case when f.opens then ${now} + min(${circuitLongestMs}, ${circuitFirstMs} << min(f.openings, 10))
          when f.closes then 0 else f.open_until end as open_until
      from (
        select r.value->>'webhookId' as webhook_id, ${failures} as failures, ${opens} as opens,
          ${closing} as closes,
          iif(${closing}, 0, coalesce(webhook_health.openings, 0)) as openings,
          coalesce(webhook_health.open_until, 0) as open_until
        from json_each(${JSON.stringify(reports)}) r
        left join webhook_health on webhook_health.webhook_id = r.value->>'webhookId') f
      join webhooks w on w.id = f.webhook_id) n
    where true
    on conflict (webhook_id) do update set failures = excluded.failures, openings = excluded.openings,
      open_until = excluded.open_until, probe_id = null`,
  );
};

/** Waits until no more calls can start for what was claimed of a webhook that has since been deleted. */
export async function untilNoneStart(env: Env, webhookId: string): Promise<void> {
  const db = openDatabase(env);
  const mayStart = async () => {
    const [row] = await db.all<{ until: number | null }>(sql`
      select max(claimed_until) as until from deliveries indexed by deliveries_due
      where status = 'pending' and next_attempt_at <= ${Date.now()} and webhook_id = ${webhookId}`);
    return (row?.until ?? 0) - leaseMs + startWindowMs > Date.now();
  };
  while (await mayStart()) await scheduler.wait(50);
}
