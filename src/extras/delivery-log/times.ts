import { and, eq, gte, type SQLWrapper, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import { type Database, int } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { createdAtOf } from '../../core/platform/db/ids.ts';
import { deliveries } from '../../core/platform/db/schema/webhooks.ts';
import { fromStored, promptMs, type StoredAttempt } from '../../core/webhooks/deliveries/policy.ts';
import { isFirst } from '../../core/webhooks/notifications/of-delivery.ts';
import { EVENT_LEVEL } from '../../core/webhooks/notifications/types.ts';

/** How many deliveries are read for the times that pages show. */
export const maxTimed = 1000;

/** A delivery with its first attempt and its last one. */
type Timed = Awaited<ReturnType<typeof selectTimes>>[number];

/** Selects the newest of the deliveries of these webhooks (a query of ids): 1,000 in all, as many of each. */
export function selectTimes(db: Database, webhookIds: SQLWrapper) {
  const oldest = sql`coalesce((
    select id from deliveries where webhook_id = w.id order by id desc
    limit 1 offset ${int(maxTimed)} / (select count(*) from ${webhookIds}) - 1), '')`;
  return db
    .select({
      webhookId: d.webhookId,
      id: d.id,
      level: d.level,
      status: d.status,
      first: isFirst(sql`d`).mapWith(Boolean).as('first'),
      attempts: sql<string>`json_array(${d.log}->0, ${d.log}->'$[#-1]')`.as('attempts_made'),
    })
    .from(sql`${webhookIds} w`)
    .crossJoin(d)
    .where(and(eq(d.webhookId, sql`w.id`), gte(d.id, oldest)));
}

const d = alias(deliveries, 'd');

const attemptsOf = ({ attempts }: Pick<Timed, 'attempts'>) =>
  (JSON.parse(attempts) as (StoredAttempt | null)[]).map((one) => one && fromStored(one));

/** A response: when the receiver was called, and after how many ms it responded or the call was given up. */
export type ReceiverResponse = { at: number; ms: number };

/** The response to the last attempt of each delivery, if its receiver was reached. */
export const responsesIn = (deliveries: Timed[]): ReceiverResponse[] =>
  deliveries.flatMap((one) => {
    const last = attemptsOf(one)[1];
    const isReached = last && (last.status !== undefined || last.result === 'timeout');
    return isReached ? [{ at: last.at, ms: last.durationMs }] : [];
  });

/** The time within which a share of them came; null if there are none. */
export const percentile = (times: number[], share: number): number | null =>
  times.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * times.length) - 1)] ?? null;

/** How long some deliveries waited, in ms: infinite for what never happened. `inTime` is a share. */
export type Waits = {
  count: number;
  inTime: number | null;
  firstAttempt: number[];
  delivered: number[];
};

/** How long the newest deliveries of an account took. */
export async function timesOf(env: Env, caller: Caller) {
  const webhooks = sql`(select id from webhooks where account_id = ${caller.accountId} limit ${maxTimed})`;
  return waitsIn(await asCaller(env, caller, (db) => selectTimes(db, webhooks)), Date.now());
}

/** How long accidents and events waited, without tests, replays and cancelled ones. What waits counts with its age. */
export function waitsIn(deliveries: Timed[], now: number): { accidents: Waits; events: Waits } {
  const counted = deliveries.filter(({ first, status }) => first && status !== 'cancelled');
  return {
    accidents: waitsOf(
      counted.filter(({ level }) => level !== EVENT_LEVEL),
      now,
    ),
    events: waitsOf(
      counted.filter(({ level }) => level === EVENT_LEVEL),
      now,
    ),
  };
}

function waitsOf(deliveries: Timed[], now: number): Waits {
  const waits = deliveries.map((one) => {
    const [first, last] = attemptsOf(one);
    const soFar = one.status === 'pending' ? now : Number.POSITIVE_INFINITY;
    const deliveredAt = one.status === 'delivered' && last ? last.at + last.durationMs : soFar;
    const since = createdAtOf(one.id);
    return { firstAttempt: (first?.at ?? soFar) - since, delivered: deliveredAt - since };
  });
  const firstAttempt = waits.map((one) => one.firstAttempt);
  const count = waits.length;
  const inTime = count > 0 ? firstAttempt.filter((ms) => ms <= promptMs).length / count : null;
  return { count, inTime, firstAttempt, delivered: waits.map((one) => one.delivered) };
}
