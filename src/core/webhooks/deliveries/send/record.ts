import { type SQL, sql } from 'drizzle-orm';
import type { Database } from '../../../platform/db/database.ts';
import { deliveries } from '../../../platform/db/schema/webhooks.ts';
import { attemptsIn, countOutcomes, tallyOf } from '../counts.ts';
import {
  accidentPauseMs,
  maxRetriedAtOnce,
  type Recorded,
  retrySoonMs,
  toStored,
} from '../policy.ts';
import { nextLevels } from './accident-order.ts';

/** A row keeps its first attempt and the latest 20; `attempts_omitted` counts the others. */
export const maxKeptAttempts = 21;

/**
 * The statements that record and count outcomes, and release their claims. Waiting retries become
 * due if the receiver has `recovered`.
 */
export function recordStatements(
  db: Database,
  webhookId: string,
  outcomes: Recorded[],
  now: number,
  recovered?: 'failing' | 'open',
) {
  const [first] = outcomes;
  const tally = tallyOf(outcomes);
  const ended = outcomes.flatMap(({ status, delivery }) =>
    status === 'pending' ? [] : [delivery],
  );
  const due = [
    nextLevels(webhookId, ended, now),
    recovered && waitingRetries(webhookId, recovered, now),
  ].filter((keys) => keys !== undefined);
  return {
    counted:
      attemptsIn(tally) > 0 ? countOutcomes(db, webhookId, tally, first?.delivery, now) : undefined,
    recorded: first && recordOutcomes(db, outcomes, now),
    madeDue: due.length > 0 ? makeDue(db, due, now) : undefined,
  };
}

/** Makes the deliveries due whose keys are in a list of queries. SQLite seeks those of one `select` alone. */
const makeDue = (db: Database, keys: SQL[], now: number) =>
  db
    .update(deliveries)
    .set({ nextAttemptAt: soonest(now) })
    .where(
      sql`(webhook_id, id) in (
        select * from (select * from ${sql.join(keys, sql` union all select * from `)}))`,
    );

function recordOutcomes(db: Database, outcomes: Recorded[], now: number) {
  const rows = outcomes.map(({ delivery, status, nextAttemptAt, attempt }) => ({
    webhookId: delivery.webhookId,
    id: delivery.id,
    claimedUntil: delivery.claimedUntil,
    status,
    nextAttemptAt,
    attempted: attempt ? 1 : 0,
    attempt: attempt && toStored(attempt),
  }));
  // Set-based: all outcomes of a worker at once.
  return db.run(sql`
    update deliveries set
      status = r.value->>'status',
      attempts = attempts + (r.value->>'attempted'),
      next_attempt_at = iif(r.value->>'status' = 'pending',
        coalesce(r.value->>'nextAttemptAt', next_attempt_at), null),
      claimed_until = 0,
      finished_at = case when r.value->>'status' <> 'pending' then ${now} end,
      attempts_omitted = attempts_omitted
        + (r.value->>'attempted' and json_array_length(log) >= ${maxKeptAttempts}),
      log = case
        when not r.value->>'attempted' then log
        when json_array_length(log) >= ${maxKeptAttempts}
          then json_remove(json_insert(log, '$[#]', json(r.value->>'attempt')), '$[1]')
        else json_insert(log, '$[#]', json(r.value->>'attempt')) end
    from json_each(${JSON.stringify(rows)}) r
    where webhook_id = r.value->>'webhookId' and deliveries.id = r.value->>'id'
      and status = 'pending' and claimed_until = r.value->>'claimedUntil'`);
}

/** SQL for when a retry may be made: not before the time that the receiver asked for. */
const soonest = (now: number): SQL => sql`max(${now}, coalesce(
  log ->> '$[#-1].at' + log ->> '$[#-1].durationMs' + log ->> '$[#-1].retryAfter', 0))`;

/** The retries that a recovered receiver gets early. */
const waitingRetries = (webhookId: string, was: 'failing' | 'open', now: number): SQL => sql`(
  select webhook_id, id from deliveries indexed by deliveries_due
  where webhook_id = ${webhookId} and status = 'pending' and priority in (0, 1, 2, 3)
    and next_attempt_at > ${now} and next_attempt_at > ${soonest(now)}
    ${was === 'failing' ? sql`and next_attempt_at <= ${now + retrySoonMs}` : undefined}
    and attempts > 0 and claimed_until <= ${now}
    and (priority > 0 or log ->> '$[#-1].at' <= ${now - accidentPauseMs})
  order by priority, next_attempt_at limit ${maxRetriedAtOnce})`;
