import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import { type Answers, addAnswers } from './latency.ts';

/**
 * What happened to a webhook's deliveries in some time: how many ended, delivered or failed for good, how many attempts
 * failed and will be repeated, and how long its receiver took to answer.
 */
export type Tally = { delivered: number; failed: number; retried: number; answers: Answers };

export const noTally: Tally = { delivered: 0, failed: 0, retried: 0, answers: {} };

/** A tally of one hour, counted since 1970. */
export type HourTally = Tally & { hour: number };

/** How many hours back a page shows hour by hour, this one included, and how many there are: 30 days. */
export const shownHours = 24;
export const countedHours = 720;

const hourMs = 3_600_000;
export const hourOf = (ms: number): number => Math.floor(ms / hourMs);

/** What becomes of a counter when more is counted: an hour takes the place of the one 30 days before it. */
const addedUp = (answers: Answers) => sql`
  delivered = iif(hour = excluded.hour, delivered, 0) + excluded.delivered,
  failed = iif(hour = excluded.hour, failed, 0) + excluded.failed,
  retried = iif(hour = excluded.hour, retried, 0) + excluded.retried,
  answers = iif(hour = excluded.hour, ${withAnswers(answers)}, excluded.answers),
  noticed = iif(hour = excluded.hour, noticed, 0),
  hour = excluded.hour`;

/** The row's answers and these. Bucket by bucket, because to go through the row's would be billed as reading rows. */
function withAnswers(answers: Answers): SQL {
  const added = Object.entries(answers).map(([bucket, count]) => {
    const path = `'$."${Number(bucket)}"'`;
    return `, ${path}, coalesce(answers ->> ${path}, 0) + ${Number(count)}`;
  });
  return added.length > 0 ? sql.raw(`json_set(answers${added.join('')})`) : sql.raw('answers');
}

/** A delivery that has been attempted, by the claim that it was called under, and its status now. */
export type Attempted = { id: string; claimedUntil: number; status: string };

/**
 * Counts what became of a webhook's deliveries that have been `attempted`, with their `answers`, and what became of
 * those of `earlier` transactions. To be run in the same transaction as the update that records them, and before it:
 * when none of them is pending under its claim any more, nothing is counted, so that recording a batch twice counts it
 * once. Writes one row, however many there are, and none for a deleted webhook.
 */
export function countAttempts(
  db: Database,
  webhookId: string,
  attempted: Attempted[],
  answers: Answers,
  earlier: Tally,
  now: number,
) {
  const rows = attempted.map(({ id, claimedUntil, status }) => ({ id, claimedUntil, status }));
  return addToHour(
    db,
    webhookId,
    sql`
      select total(e.value->>'status' = 'delivered') + ${earlier.delivered} as delivered,
        total(e.value->>'status' = 'failed') + ${earlier.failed} as failed,
        total(e.value->>'status' = 'pending') + ${earlier.retried} as retried
      from json_each(${JSON.stringify(rows)}) e
      cross join deliveries d on d.webhook_id = ${webhookId} and d.id = e.value->>'id'
      where d.status = 'pending' and d.claimed_until = e.value->>'claimedUntil'
      having count(*) > 0`,
    addAnswers([answers, earlier.answers]),
    now,
  );
}

/** Counts what became of deliveries of a webhook in earlier transactions. */
export const countEarlier = (
  db: Database,
  webhookId: string,
  { delivered, failed, retried, answers }: Tally,
  now: number,
) =>
  addToHour(
    db,
    webhookId,
    sql`select ${delivered} as delivered, ${failed} as failed, ${retried} as retried`,
    answers,
    now,
  );

function addToHour(db: Database, webhookId: string, counts: SQL, answers: Answers, now: number) {
  const hour = hourOf(now);
  return statement(db)`
    insert into webhook_hours (webhook_id, slot, hour, delivered, failed, retried, answers)
    select w.id, ${hour % countedHours}, ${hour}, c.delivered, c.failed, c.retried, ${JSON.stringify(answers)}
    from (${counts}) c cross join webhooks w on w.id = ${webhookId}
    where true
    on conflict (webhook_id, slot) do update set ${addedUp(answers)}`;
}

/**
 * SQL that counts deliveries that fail without an attempt, which `which` selects by `webhook_id`. To be run in the
 * same transaction as the update that fails them, and before it.
 */
export const countFailed = (which: SQL, now: number): SQL => sql`
  insert into webhook_hours (webhook_id, slot, hour, delivered, failed)
  select w.id, ${hourOf(now) % countedHours}, ${hourOf(now)}, 0, c.failed
  from (select webhook_id, count(*) as failed from (${which}) group by webhook_id) c
  cross join webhooks w on w.id = c.webhook_id
  where true
  on conflict (webhook_id, slot) do update set ${addedUp({})}`;

/** A counter as D1 returns it. */
export type CountedHour = Omit<HourTally, 'answers'> & { webhookId: string; answers: string };

const columns = sql`c.webhook_id as webhookId, c.hour, c.delivered, c.failed, c.retried, c.answers`;

/** The last 30 days of a webhook that is the account's: at most 720 counters, however many deliveries it had. */
export const selectHours = (db: Database, ownWebhook: SQL, now: number) =>
  statement<CountedHour>(db)`select ${columns} from webhook_hours c
      where c.webhook_id = ${ownWebhook} and c.hour > ${hourOf(now) - countedHours}`;

/** The last 24 hours of these webhooks: at most 24 counters each. */
export function selectLastDay(db: Database, webhookIds: SQL, now: number) {
  const first = hourOf(now) - shownHours + 1;
  const slots = Array.from({ length: shownHours }, (_, i) => (first + i) % countedHours);
  return statement<CountedHour>(db)`select ${columns} from (${webhookIds}) w
      cross join webhook_hours c on c.webhook_id = w.id and c.hour >= ${first}
        and c.slot in (select value from json_each(${JSON.stringify(slots)}))`;
}

/** Puts counters in order: each of the last `count` hours once, oldest first, empty where nothing was counted. */
export function inHours(counted: CountedHour[], count: number, now: number): HourTally[] {
  const first = hourOf(now) - count + 1;
  const hours = Array.from({ length: count }, (_, i): HourTally => ({ ...noTally, hour: first + i }));
  for (const row of counted) {
    const place = row.hour - first;
    const before = hours[place];
    const tally = { ...row, answers: JSON.parse(row.answers) };
    if (before) hours[place] = { ...addTallies([before, tally]), hour: row.hour };
  }
  return hours;
}

/** Several tallies together. */
export const addTallies = (tallies: Tally[]): Tally => ({
  delivered: total(tallies, 'delivered'),
  failed: total(tallies, 'failed'),
  retried: total(tallies, 'retried'),
  answers: addAnswers(tallies.map(({ answers }) => answers)),
});

const total = (tallies: Tally[], of: 'delivered' | 'failed' | 'retried'): number =>
  tallies.reduce((sum, tally) => sum + tally[of], 0);
