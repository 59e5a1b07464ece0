import { and, count, desc, eq, ne, or, type SQLWrapper, sql } from 'drizzle-orm';
import type * as v from 'valibot';
import { deletedAccountId } from '../core/accounts/accounts.ts';
import { config } from '../core/platform/config.ts';
import { type Database, transaction } from '../core/platform/db/database.ts';
import { createdAtOf, firstIdAt } from '../core/platform/db/ids.ts';
import { accounts, connections } from '../core/platform/db/schema/accounts.ts';
import { openDatabase } from '../core/platform/db/system.ts';
import { dayMs } from '../core/platform/durations.ts';
import { timestamp } from '../core/platform/fields.ts';
import { hourOf, shownHours } from '../core/webhooks/deliveries/counts.ts';
import { firstDueOf, pendingWebhooks } from '../core/webhooks/deliveries/due.ts';
import { pausedAfterMs } from '../core/webhooks/deliveries/policy.ts';
import { declared } from '../extras.ts';
import {
  maxAccountsCounted,
  maxFailedCounted,
  maxListed,
  maxPendingCounted,
} from './api/counted.ts';
import type { Cell, DeliveryStatus, HeaderKey, StatusReport } from './api/service.ts';
import { failedDeletions } from './deletion/list.ts';
import { allExtras } from './extras.ts';
import { askD1, checkHealth, earlierSize, problemOf, sizeOf, warningOf } from './health/service.ts';
import { countEncrypted } from './re-encrypt.ts';
import { accidentsInTime, selectWaits } from './waits.ts';

/** An accident is listed when its delivery has taken this long. */
const accidentWaitsMs = 30_000;

/** The operators' overview: health and deliveries. @throws Refusal: unavailable */
export async function status(
  env: Env,
  now = Date.now(),
): Promise<v.InferInput<typeof StatusReport>> {
  const [health, found] = await Promise.all([checkHealth(env), deliveryStatus(env, now)]);
  const { waits, failing, accidents, encrypted, moves, ...listed } = found;
  const [waiting] = waits.waiting;
  const pending = Math.min(waiting?.pending ?? 0, maxPendingCounted);
  const due = Math.min(waiting?.due ?? 0, maxPendingCounted);
  const encryptionKeys = withKeys(
    encrypted,
    config(env).encryptionKeys.map(({ id }) => id),
  );
  return {
    problem: problemOf(health) ?? keyProblem(encryptionKeys) ?? null,
    warning: warningOf(health) ?? null,
    health,
    pending,
    due,
    later: pending - due,
    oldestPendingAt: waiting?.oldest ? createdAtOf(waiting.oldest) : null,
    accidentsInTime: accidentsInTime(waits, now),
    accidents: accidents.map((one) => ({ ...one, createdAt: createdAtOf(one.deliveryId) })),
    failing: failing.map((row) => ({ ...row, lastFailure: JSON.parse(row.lastFailure ?? 'null') })),
    paused: failing.flatMap(({ pausedSince, ...one }) =>
      pausedSince !== null && pausedSince <= now - pausedAfterMs ? [{ ...one, pausedSince }] : [],
    ),
    ...listed,
    moves: moves.flat(),
    encryptionKeys,
  };
}

/** The keys of ENCRYPTION_KEYS, newest first, and missing ones that have encrypted something. */
function withKeys(encrypted: { key: string; encrypts: number }[], ids: string[]): HeaderKey[] {
  return [...new Set([...ids, ...encrypted.map(({ key }) => key)])].map((id, at) => ({
    key: id,
    encrypts: encrypted.reduce((sum, { key, encrypts }) => sum + (key === id ? encrypts : 0), 0),
    known: at < ids.length,
    newest: at === 0,
  }));
}

/** A key was removed from ENCRYPTION_KEYS too early. */
function keyProblem(keys: HeaderKey[]): string | undefined {
  const missing = keys
    .filter(({ known }) => !known)
    .map(({ key, encrypts }) => `${key} (${encrypts})`);
  return missing.length > 0
    ? `ENCRYPTION_KEYS lacks keys that webhook headers or credentials are encrypted with: ${missing.join(', ')}. Put them back`
    : undefined;
}

/**
 * The state of deliveries and connections, and whose fail. Reads a bounded number of rows: 10,000
 * pending deliveries of each type, 10,000 hours with accidents, 100 failed deliveries of each of
 * 1,000 webhooks, 720 counters and 100 retries of each of the 20 worst, and 10,000 connections.
 * @throws Refusal: unavailable
 */
async function deliveryStatus(env: Env, now: number) {
  const db = openDatabase(env);
  return transaction(db, {
    waits: selectWaits(db, now),
    accidents: selectAccidents(db, now),
    failing: selectFailing(db, now),
    connections: db
      .select({
        ...ofConnection(connections),
        healthStatus: connections.healthStatus,
        lastPulledAt: connections.lastPulledAt,
      })
      .from(connections)
      .innerJoin(accounts, eq(accounts.id, connections.accountId))
      .where(and(sql`${connections.healthStatus} <> 1`, eq(accounts.status, 'active')))
      .limit(maxListed),
    uncovered: selectUncovered(env, db),
    deletions: failedDeletions(db),
    moves: declared('unfinishedMoves', allExtras).map((select) => select(db, now)),
    encrypted: countEncrypted(db),
  });
}

/** The columns of a connection and its account in lists. */
const ofConnection = ({ id, name, tsp }: { [column in 'id' | 'name' | 'tsp']: SQLWrapper }) => ({
  connectionId: sql<string>`${id}`.as('connection_id'),
  accountId: accounts.id,
  account: accounts.name,
  name: sql<string>`coalesce(${name}, ${tsp})`.as('connection_name'),
});

function selectUncovered(env: Env, db: Database) {
  const isUncovered = or(...declared('isUncovered').map((of) => of(env))) ?? sql`false`;
  const newest = db
    .select()
    .from(connections)
    .orderBy(desc(connections.id))
    .limit(maxPendingCounted)
    .as('c');
  return db
    .select(ofConnection(newest))
    .from(newest)
    .innerJoin(accounts, and(eq(accounts.id, newest.accountId), eq(accounts.status, 'active')))
    .where(and(isUncovered, ...declared('needsCover')))
    .limit(maxListed);
}

// Raw: a recursive part seeks from webhook to webhook, and an index is named.
const selectAccidents = (db: Database, now: number) =>
  db.all<Omit<DeliveryStatus['accidents'][number], 'createdAt'>>(sql`
    with ${pendingWebhooks}
    select d.id as deliveryId, d.webhook_id as webhookId, a.id as accountId, a.name as account,
      d.level, (select url from webhooks where id = d.webhook_id) as url, d.attempts,
      d.next_attempt_at as nextAttemptAt
    from (
      select d.*
      from hooks
      cross join deliveries d indexed by deliveries_due
        on d.webhook_id = hooks.id and d.status = 'pending' and d.priority = 0
          and d.id < ${firstIdAt(now - accidentWaitsMs)}
      limit ${maxPendingCounted}) d
    cross join accounts a on a.id = d.account_id
    order by d.id
    limit ${maxListed}`);

// Raw: indexes are named, and each part is counted up to a limit.
const selectFailing = (db: Database, now: number) =>
  db.all<Failing>(sql`
    with
      ailing as (
        select webhook_id, failures, iif(open_until > ${now}, open_until, null) as open_until,
          paused_since, last_failure
        from (select * from webhook_health limit 10000)
        order by failures desc
        limit 1000),
      counted as (
        select *, (
          select count(*) from (
            select finished_at
            from deliveries indexed by deliveries_failed
            where status = 'failed' and webhook_id = ailing.webhook_id
            order by id desc
            limit ${maxFailedCounted})
          where finished_at >= ${now - dayMs}) as failed
        from ailing),
      worst as (
        select w.id as webhookId, w.url, a.id as accountId, a.name as account, failed, failures,
          c.open_until as openUntil, c.paused_since as pausedSince,
          iif(c.last_failure is null, null, json_object('kind', c.last_failure->>'result',
            'status', c.last_failure->>'status')) as lastFailure
        from counted c
        join webhooks w on w.id = c.webhook_id and w.stopped_at is null
        join accounts a on a.id = w.account_id
        where failed > 0 or failures > 0
        order by failures > 0 desc, failed desc, failures desc, w.id
        limit ${maxListed})
    select *, (
        select coalesce(sum(failed + retried), 0)
        from webhook_hours
        where webhook_id = webhookId and hour > ${hourOf(now) - shownHours}) as failedAttempts, (
        select count(*) from (
          select 1
          from deliveries indexed by deliveries_retrying
          where status = 'pending' and attempts > 0 and webhook_id = webhookId
          limit ${maxFailedCounted})) as retrying,
      max(coalesce(openUntil, 0), ${firstDueOf(sql`webhookId`)}) as nextAttemptAt
    from worst
    order by failures > 0 desc, failed desc, failures desc, webhookId`);

type Failing = Omit<DeliveryStatus['failing'][number], 'lastFailure'> & {
  lastFailure: string | null;
  pausedSince: number | null;
};

/** This cell, and how full it is. Reads two rows for each of at most 10,000 accounts. @throws Refusal: unavailable */
export async function showCell(env: Env, now = Date.now()): Promise<Cell> {
  const db = openDatabase(env);
  const yesterday = Math.floor(now / dayMs) - 1;
  const first = db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(ne(accounts.id, deletedAccountId), ne(accounts.status, 'moved')))
    .limit(maxAccountsCounted)
    .as('first');
  const events = declared('eventsOn').map((eventsOn) => eventsOn(db, first.id, yesterday));
  const { counted, sizes, d1 } = await transaction(db, {
    counted: db
      .select({
        accounts: count(),
        eventsPerDay: sql<number>`coalesce(sum(${events[0] ?? 0}), 0)`.as('events'),
      })
      .from(first),
    sizes: earlierSize(db, now),
    d1: askD1(db),
  });
  const { bytes, share, daysLeft } = sizeOf(d1.meta.size_after, now, sizes[0]);
  const fullOn = daysLeft === null ? null : timestamp(now + daysLeft * dayMs).slice(0, 10);
  const [counts = { accounts: 0, eventsPerDay: 0 }] = counted;
  return { name: config(env).cell, ...counts, bytes, share, fullOn };
}
