import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../platform/db/database.ts';
import { createdAtOf } from '../../platform/db/ids.ts';
import { hourMs } from '../../platform/durations.ts';
import { isFirst } from '../notifications/of-delivery.ts';
import { ACCIDENT } from '../notifications/types.ts';
import { promptMs, type Recorded } from './policy.ts';

/** How deliveries of a webhook ended, attempts that will be repeated, and first attempts of accidents. */
export type Tally = typeof noTally;

export const noTally = { delivered: 0, failed: 0, retried: 0, accidents: 0, accidentsInTime: 0 };

/** How many hours a page shows, including this one, and how many are kept: 30 days. */
export const shownHours = 24;
export const countedHours = 720;

export const hourOf = (ms: number): number => Math.floor(ms / hourMs);

/** How these outcomes will be counted. */
export const tallyOf = (outcomes: Recorded[]): Tally =>
  addTallies(
    outcomes.map(({ delivery, status, attempt }) => {
      if (!attempt) return noTally;
      const { id, type, attempts, first } = delivery;
      const isCounted = first === 1 && type === ACCIDENT && attempts === 0;
      return {
        delivered: Number(status === 'delivered'),
        failed: Number(status === 'failed'),
        retried: Number(status === 'pending'),
        accidents: Number(isCounted),
        accidentsInTime: Number(isCounted && attempt.at - createdAtOf(id) <= promptMs),
      };
    }),
  );

export const addTallies = (tallies: Tally[]): Tally =>
  tallies.reduce(
    (sum, tally) => ({
      delivered: sum.delivered + tally.delivered,
      failed: sum.failed + tally.failed,
      retried: sum.retried + tally.retried,
      accidents: sum.accidents + tally.accidents,
      accidentsInTime: sum.accidentsInTime + tally.accidentsInTime,
    }),
    noTally,
  );

/** How many attempts a tally counts. */
export const attemptsIn = ({ delivered, failed, retried }: Tally): number =>
  delivered + failed + retried;

/** SQL that adds to the counters of an hour, which replaces the one 30 days before it. */
const addedUp = sql.raw(`
  on conflict (webhook_id, slot) do update set
    ${['delivered', 'failed', 'retried', 'accidents', 'accidents_in_time']
      .map((name) => `${name} = iif(hour = excluded.hour, ${name}, 0) + excluded.${name}`)
      .join(', ')},
    noticed = iif(hour = excluded.hour, noticed, 0), hour = excluded.hour`);

/** Adds a tally to a webhook's hour. With `claim`, only while that is claimed: a repeat counts once. */
export function countOutcomes(
  db: Database,
  webhookId: string,
  { delivered, failed, retried, accidents, accidentsInTime }: Tally,
  claim: { id: string; claimedUntil: number } | undefined,
  now: number,
) {
  const hour = hourOf(now);
  const isNew = claim
    ? sql`exists (select 1 from deliveries where webhook_id = w.id and id = ${claim.id}
        and status = 'pending' and claimed_until = ${claim.claimedUntil})`
    : sql`true`;
  // Part of the transaction that records, which is raw for speed.
  return db.run(sql`
    insert into webhook_hours
      (webhook_id, slot, hour, delivered, failed, retried, accidents, accidents_in_time)
    select w.id, ${hour % countedHours}, ${hour}, ${delivered}, ${failed}, ${retried},
      ${accidents}, ${accidentsInTime}
    from webhooks w where w.id = ${webhookId} and ${isNew} ${addedUp}`);
}

/** The statement that counts what fails without an attempt, before the update that fails it. */
export const countFailed = (db: Database, which: SQL, now: number) =>
  // Set-based.
  db.run(sql`
    insert into webhook_hours (webhook_id, slot, hour, delivered, failed, accidents)
    select w.id, ${hourOf(now) % countedHours}, ${hourOf(now)}, 0, c.failed, c.accidents
    from (
      select d.webhook_id, count(*) as failed,
        sum(d.priority = 0 and d.attempts = 0 and ${isFirst(sql`d`)}) as accidents
      from ${which} f cross join deliveries d on d.webhook_id = f.webhook_id and d.id = f.id
      group by d.webhook_id) c
    cross join webhooks w on w.id = c.webhook_id
    where true ${addedUp}`);
