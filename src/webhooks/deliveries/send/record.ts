import { type SQL, sql } from 'drizzle-orm';
import { type Database, write } from '../../../platform/db/database.ts';
import { type Recorded, toStored } from '../policy.ts';
import { attemptsIn, countOutcomes, noTally, type Tally } from '../read/counts.ts';
import { moveReceiver, type ReceiverReport, waitingRetries } from '../receiver/circuit.ts';
import { nextLevels } from './accident-order.ts';

/** A row keeps its first attempt and the latest 20; `attempts_omitted` counts the others. */
export const maxKeptAttempts = 21;

/**
 * The statements that record outcomes and release claims, count `tally`, and move the circuit and
 * window by a `report`. Five failures in a row open the circuit; a success closes it, and waiting
 * retries become due. Workers that saw the same window change it once.
 */
export function recordStatements(
  db: Database,
  webhookId: string,
  outcomes: Recorded[],
  { report, tally = noTally, now }: { report?: ReceiverReport | undefined; tally?: Tally; now: number },
) {
  const [first] = outcomes;
  const ended = outcomes.flatMap(({ status, delivery }) => (status === 'pending' ? [] : [delivery]));
  const due = [
    nextLevels(webhookId, ended, now),
    report?.recovered && waitingRetries(webhookId, report.recovered, now),
  ].filter((keys) => keys !== undefined);
  return {
    counted: attemptsIn(tally) > 0 ? countOutcomes(db, webhookId, tally, first?.delivery, now) : undefined,
    recorded: first && recordOutcomes(db, outcomes, now),
    moved: report && moveReceiver(db, webhookId, report, now),
    madeDue: due.length > 0 ? makeDue(db, sql.join(due, sql` union all `), now) : undefined,
  };
}

/** Makes the deliveries due whose keys a query selects. SQLite seeks those of one `select` alone. */
const makeDue = (db: Database, keys: SQL, now: number) =>
  write(
    db,
  )`update deliveries set next_attempt_at = ${now} where (webhook_id, id) in (select * from (${keys}))`;

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
  return write(db)`
    update deliveries set
      status = r.value->>'status',
      attempts = attempts + (r.value->>'attempted'),
      next_attempt_at = iif(r.value->>'status' = 'pending',
        coalesce(r.value->>'nextAttemptAt', next_attempt_at), null),
      claimed_until = 0,
      finished_at = case when r.value->>'status' <> 'pending' then ${now} end,
      attempts_omitted = attempts_omitted + (r.value->>'attempted' and json_array_length(log) >= ${maxKeptAttempts}),
      log = case
        when not r.value->>'attempted' then log
        when json_array_length(log) >= ${maxKeptAttempts}
          then json_remove(json_insert(log, '$[#]', json(r.value->>'attempt')), '$[1]')
        else json_insert(log, '$[#]', json(r.value->>'attempt')) end
    from json_each(${JSON.stringify(rows)}) r
    where webhook_id = r.value->>'webhookId' and deliveries.id = r.value->>'id'
      and status = 'pending' and claimed_until = r.value->>'claimedUntil'`;
}
