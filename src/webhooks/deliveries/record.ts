import { type SQL, sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import { nextLevels } from './accident-order.ts';
import { type ClaimedWebhook, ceilingOf, type Recorded } from './claim.ts';
import { attemptsIn, countOutcomes, noTally, type Tally } from './counts.ts';
import {
  type Attempt,
  accidentPauseMs,
  accidentRetryMs,
  circuitAccidentOpenings,
  circuitAfter,
  circuitFirstMs,
  circuitLongestMs,
  firstWindow,
  inTimeMs,
  maxRetriedAtOnce,
  retrySoonMs,
} from './policy.ts';

/** A row keeps its first attempt and the latest 20; `attempts_omitted` counts the others. */
export const maxKeptAttempts = 21;

/**
 * What attempts reveal about a webhook's receiver: how many failed since the last success, how many succeeded, whether
 * it is overloaded (timeouts, 429, 5xx), or so quick that it may get more calls than `window`.
 */
export type ReceiverReport = {
  failures: number;
  successes: number;
  overloaded: boolean;
  widen: boolean;
  window: number;
  /** If it works again: whether it was failing, or its circuit was open. */
  recovered?: 'failing' | 'open';
  last?: Pick<Attempt, 'result' | 'status' | 'reason'>;
};

/** What else is recorded with outcomes: what they say of the receiver, and what is to be counted now. */
export type RecordOptions = { report?: ReceiverReport | undefined; tally?: Tally; now: number };

/**
 * The statements that record outcomes and release the claims that still hold. A `report` also moves the receiver's
 * circuit and window. Five failures in a row open the circuit, for 30 seconds first, then twice as long each time, up
 * to 15 minutes; a success closes it. The window is halved or doubled once for all workers that saw the same one, and
 * starts at one call after an outage. When a receiver recovers, its waiting retries become due at once.
 */
export const recordStatements = (
  db: Database,
  webhookId: string,
  outcomes: Recorded[],
  { report, tally = noTally, now }: RecordOptions,
) => {
  const ended = outcomes.filter(({ status }) => status !== 'pending');
  const nothing = () => statement(db)`select 0`;
  return [
    attemptsIn(tally) > 0 ? countOutcomes(db, webhookId, tally, outcomes[0]?.key, now) : nothing(),
    recordOutcomes(db, outcomes, now),
    report ? moveReceiver(db, webhookId, report, now) : nothing(),
    makeDue(
      db,
      [
        nextLevels(
          webhookId,
          ended.map(({ key }) => key),
          now,
        ),
        report?.recovered && waitingRetries(webhookId, report.recovered, now),
      ],
      now,
    ),
  ] as const;
};

/** Makes the deliveries due whose keys these queries select. */
function makeDue(db: Database, keys: (SQL | undefined)[], now: number) {
  const selected = keys.filter((one) => one !== undefined);
  if (selected.length === 0) return statement(db)`select 0`;
  return statement(db)`
    update deliveries set next_attempt_at = ${now}
    where (webhook_id, id) in (${sql.join(selected, sql` union all `)})`;
}

/** The retries that a recovered receiver gets early, accidents first; not those that it asked to postpone. */
const waitingRetries = (webhookId: string, was: 'failing' | 'open', now: number): SQL => sql`
  select * from (
    select webhook_id, id from deliveries indexed by deliveries_due
    where webhook_id = ${webhookId} and status = 'pending' and priority in (0, 1, 2, 3) and next_attempt_at > ${now}
      ${was === 'failing' ? sql`and next_attempt_at <= ${now + retrySoonMs}` : sql.empty()}
      and attempts > 0 and claimed_until <= ${now} and log ->> '$[#-1].retryAfter' is null
      and (priority > 0 or log ->> '$[#-1].at' <= ${now - accidentPauseMs})
    order by priority, next_attempt_at limit ${maxRetriedAtOnce})`;

function recordOutcomes(db: Database, outcomes: Recorded[], now: number) {
  const rows = outcomes.map(({ key, status, nextAttemptAt, attempt }) => ({
    webhookId: key.webhookId,
    id: key.id,
    claimedUntil: key.claimedUntil,
    status,
    nextAttemptAt,
    attempted: attempt ? 1 : 0,
    attempt,
  }));
  return statement(db)`
    update deliveries set
      status = r.value->>'status',
      attempts = attempts + (r.value->>'attempted'),
      next_attempt_at = coalesce(r.value->>'nextAttemptAt', next_attempt_at, ${now}),
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

function moveReceiver(
  db: Database,
  webhookId: string,
  { failures, successes, overloaded, widen, window: seen, last }: ReceiverReport,
  now: number,
) {
  const before = sql`iif(${successes}, 0, coalesce(h.failures, 0))`;
  const opens = sql`(${failures} > 0 and ${before} + ${failures} >= ${circuitAfter}
    and coalesce(h.open_until, 0) <= ${now})`;
  const openings = sql`iif(${successes}, 0, coalesce(h.openings, 0))`;
  const accidentWaits = sql`exists (select 1 from deliveries indexed by deliveries_due
    where webhook_id = w.id and status = 'pending' and next_attempt_at is not null and priority = 0)`;
  const window = sql`coalesce(h.window, ${firstWindow})`;
  return statement(db)`
    insert into webhook_health (webhook_id, failures, openings, open_until, window, last_failure, paused_since)
    select w.id, ${before} + ${failures},
      case when ${opens} then ${openings} + 1
        when ${successes} then 0 else coalesce(h.openings, 0) end,
      case when ${opens} then ${now} + iif(${openings} < ${circuitAccidentOpenings} and ${accidentWaits},
          ${accidentRetryMs}, min(${circuitLongestMs}, ${circuitFirstMs} << min(${openings}, 10)))
        when ${successes} then 0 else coalesce(h.open_until, 0) end,
      case when ${opens} then 1
        when ${overloaded ? 1 : 0} then min(${window}, max(1, cast(${seen} / 2 as integer)))
        when ${widen ? 1 : 0} and ${window} = ${seen} then min(2 * ${window}, ${ceilingOf})
        else ${window} end,
      coalesce(${last ? JSON.stringify(last) : null}, h.last_failure),
      case when ${before} + ${failures} >= ${circuitAfter} then coalesce(h.paused_since, ${now}) end
    from webhooks w left join webhook_health h on h.webhook_id = w.id where w.id = ${webhookId}
    on conflict (webhook_id) do update set failures = excluded.failures, openings = excluded.openings,
      open_until = excluded.open_until, window = excluded.window, last_failure = excluded.last_failure,
      paused_since = excluded.paused_since`;
}

/** What outcomes reveal about their receiver; undefined if that is nothing new. */
export function reportOf(
  outcomes: Recorded[],
  { failures, window, more }: Pick<ClaimedWebhook, 'failures' | 'window' | 'more'>,
): ReceiverReport | undefined {
  const report: ReceiverReport = { failures: 0, successes: 0, overloaded: false, widen: more, window };
  for (const { attempt } of outcomes) {
    if (!attempt) continue;
    report.widen &&= attempt.result === 'success' && attempt.durationMs <= inTimeMs;
    if (attempt.result === 'success') {
      report.failures = 0;
      report.successes++;
      continue;
    }
    report.failures++;
    const { result, status = 0, reason } = attempt;
    report.last = { result, ...(status && { status }), ...(reason && { reason }) };
    report.overloaded ||= attempt.result === 'timeout' || status === 429 || status >= 500;
  }
  if (report.successes > 0 && report.failures === 0 && failures > 0)
    report.recovered = failures >= circuitAfter ? 'open' : 'failing';
  const isNews =
    report.failures > 0 || report.overloaded || (report.successes > 0 && (failures > 0 || report.widen));
  return isNews ? report : undefined;
}
