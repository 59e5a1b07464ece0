import { type SQL, sql } from 'drizzle-orm';
import { type Database, int, jsonList, read, write } from '../../../platform/db/database.ts';
import { createdAtOf } from '../../../platform/db/ids.ts';
import { hourMs } from '../../../platform/durations.ts';
import { addHistograms, bucketOf, countWaits, type Histogram } from '../../latency.ts';
import { isFirst } from '../../notifications/of-delivery.ts';
import { ACCIDENT } from '../../notifications/types.ts';
import type { Attempt, ClaimedDelivery, Recorded } from '../policy.ts';

/** A webhook's deliveries in some time, and how long its receiver and they took. */
export type Tally = {
  delivered: number;
  failed: number;
  retried: number;
  responseTimes: Histogram;
  waits: Histogram;
};

export const noTally: Tally = { delivered: 0, failed: 0, retried: 0, responseTimes: {}, waits: {} };

/** A tally of one hour since 1970. */
export type HourTally = Tally & { hour: number };

/** How many hours a page shows, including this one, and how many are kept: 30 days. */
export const shownHours = 24;
export const countedHours = 720;

export const hourOf = (ms: number): number => Math.floor(ms / hourMs);

/** How these outcomes will be counted. */
export const tallyOf = (outcomes: Recorded[]): Tally =>
  addTallies(
    outcomes.map(({ delivery, status, attempt }) => {
      if (!attempt) return noTally;
      const hasResponded = attempt.status !== undefined || attempt.result === 'timeout';
      return {
        delivered: Number(status === 'delivered'),
        failed: Number(status === 'failed'),
        retried: Number(status === 'pending'),
        responseTimes: hasResponded ? { [bucketOf(attempt.durationMs)]: 1 } : {},
        waits: delivery.first ? waitsOf(delivery, status, attempt) : {},
      };
    }),
  );

function waitsOf(
  { id, type, attempts }: ClaimedDelivery,
  status: Recorded['status'],
  { at, durationMs }: Attempt,
): Histogram {
  const waitedMs = at - createdAtOf(id);
  const success = { delivered: waitedMs + durationMs, failed: Number.POSITIVE_INFINITY };
  return countWaits(type === ACCIDENT ? 'accident' : 'event', {
    firstAttempt: attempts === 0 ? waitedMs : undefined,
    success: status === 'delivered' || status === 'failed' ? success[status] : undefined,
  });
}

/** Adds to the counters of an hour, which replaces the one 30 days before it. */
const addedUp = (counts: { responseTimes: object; waits: object }) => sql`
  delivered = ${added(sql`delivered`)},
  failed = ${added(sql`failed`)},
  retried = ${added(sql`retried`)},
  response_times = iif(hour = excluded.hour, ${addedIn('response_times', counts.responseTimes)},
    excluded.response_times),
  waits = iif(hour = excluded.hour, ${addedIn('waits', counts.waits)}, excluded.waits),
  noticed = iif(hour = excluded.hour, noticed, 0),
  hour = excluded.hour`;

const added = (column: SQL): SQL => sql`iif(hour = excluded.hour, ${column}, 0) + excluded.${column}`;

/** How many counters an update, and one `json_set` of at most 32 arguments, has room for. */
const rooms = [3, 15, 30, 60];
const countersPerCall = 15;

/** Adds counts to the row's, key by key: D1 bills iterating over JSON as reading rows. */
function addedIn(name: 'response_times' | 'waits', counts: object): SQL {
  const column = sql.raw(name);
  const paths = Object.keys(counts).map((key) => `$."${key}"`);
  const room = rooms.find((size) => paths.length <= size) ?? paths.length;
  if (!paths[0]) return column;
  const all = Array.from({ length: room }, (_, i) => paths[i] ?? paths[0]); // set twice to the same
  let sum = column;
  for (let at = 0; at < room; at += countersPerCall) {
    const set = all.slice(at, at + countersPerCall).map((_, i) => {
      const path = sql`(path ->> ${int(at + i)})`;
      return sql`${path}, coalesce(${column} ->> ${path}, 0) + excluded.${column} ->> ${path}`;
    });
    sum = sql`json_set(${sum}, ${sql.join(set, sql`, `)})`;
  }
  return sql`(select ${sum} from (select ${JSON.stringify(all)} as path))`;
}

/** How many attempts a tally counts. */
export const attemptsIn = ({ delivered, failed, retried }: Tally): number => delivered + failed + retried;

/** Adds a tally to a webhook's hour. With `claim`, only while that is claimed: a repeat counts once. */
export function countOutcomes(
  db: Database,
  webhookId: string,
  { delivered, failed, retried, responseTimes, waits }: Tally,
  claim: { id: string; claimedUntil: number } | undefined,
  now: number,
) {
  const hour = hourOf(now);
  const isNew = claim
    ? sql`exists (select 1 from deliveries where webhook_id = w.id and id = ${claim.id}
        and status = 'pending' and claimed_until = ${claim.claimedUntil})`
    : sql`true`;
  return write(db)`
    insert into webhook_hours (webhook_id, slot, hour, delivered, failed, retried, response_times, waits)
    select w.id, ${hour % countedHours}, ${hour}, ${delivered}, ${failed}, ${retried}, ${JSON.stringify(responseTimes)},
      ${JSON.stringify(waits)}
    from webhooks w where w.id = ${webhookId} and ${isNew}
    on conflict (webhook_id, slot) do update set ${addedUp({ responseTimes, waits })}`;
}

/** SQL that counts what fails without an attempt. Runs before the update that fails it. */
export const countFailed = (which: SQL, now: number): SQL => sql`
  insert into webhook_hours (webhook_id, slot, hour, delivered, failed, waits)
  select w.id, ${hourOf(now) % countedHours}, ${hourOf(now)}, 0, c.failed, c.waits
  from (
    select d.webhook_id, count(*) as failed, json_object(${sql.join(
      Object.entries(endedUnattempted).map(([name, is]) => sql`${name}, total(${is} and ${isFirst(sql`d`)})`),
      sql`, `,
    )}) as waits
    from (${which}) f cross join deliveries d on d.webhook_id = f.webhook_id and d.id = f.id
    group by d.webhook_id) c
  cross join webhooks w on w.id = c.webhook_id
  where true
  on conflict (webhook_id, slot) do update set ${addedUp({ responseTimes: {}, waits: endedUnattempted })}`;

/** The counters of what fails without an attempt: some was never attempted. */
const never = Number.POSITIVE_INFINITY;
const nameOf = (counter: Histogram): string => Object.keys(counter)[0] ?? '';
const endedUnattempted = {
  [nameOf(countWaits('accident', { success: never }))]: sql`d.priority = 0`,
  [nameOf(countWaits('event', { success: never }))]: sql`d.priority > 0`,
  [nameOf(countWaits('accident', { firstAttempt: never }))]: sql`d.priority = 0 and d.attempts = 0`,
  [nameOf(countWaits('event', { firstAttempt: never }))]: sql`d.priority > 0 and d.attempts = 0`,
};

type CountedHour = Omit<HourTally, 'responseTimes' | 'waits'> & { webhookId: string; responseTimes: string };

/** Selects the last `count` hours of these webhooks (a query of ids). */
export function selectHours(db: Database, webhookIds: SQL, count: number, now: number) {
  const first = hourOf(now) - count + 1;
  const slots = Array.from({ length: count }, (_, i) => (first + i) % countedHours);
  const range = count < countedHours ? sql`and c.slot in ${jsonList(slots)}` : undefined;
  return read<CountedHour>(db)`
    select c.webhook_id as webhookId, c.hour, c.delivered, c.failed, c.retried, c.response_times as responseTimes
    from (${webhookIds}) w cross join webhook_hours c on c.webhook_id = w.id and c.hour >= ${first} ${range}`;
}

/** The last hours of a webhook, oldest first, empty where nothing was counted. */
export function inHours(counted: CountedHour[], count: number, now: number): HourTally[] {
  const first = hourOf(now) - count + 1;
  const found = new Map(counted.map((row) => [row.hour, row]));
  return Array.from({ length: count }, (_, i) => {
    const row = found.get(first + i);
    const responseTimes = JSON.parse(row?.responseTimes ?? '{}');
    return { ...noTally, ...row, hour: first + i, responseTimes };
  });
}

export const addTallies = (tallies: Tally[]): Tally => ({
  delivered: total(tallies, 'delivered'),
  failed: total(tallies, 'failed'),
  retried: total(tallies, 'retried'),
  responseTimes: addHistograms(tallies.map(({ responseTimes }) => responseTimes)),
  waits: addHistograms(tallies.map(({ waits }) => waits)),
});

const total = (tallies: Tally[], of: 'delivered' | 'failed' | 'retried'): number =>
  tallies.reduce((sum, tally) => sum + tally[of], 0);
