import { sql } from 'drizzle-orm';
import { type Database, statement } from '../../platform/db/database.ts';
import { releaseNextLevels } from './accident-order.ts';
import { type Claimed, type ClaimedWebhook, ceilingOf } from './claim.ts';
import { countAttempts, noTally, type Tally } from './counts.ts';
import { type Answers, addAnswers, bucketOf } from './latency.ts';
import {
  circuitAfter,
  circuitFirstMs,
  circuitLongestMs,
  firstWindow,
  inTimeMs,
  type Outcome,
} from './policy.ts';

/** A row keeps its first attempt and the latest 20; `attempts_omitted` counts the others. */
export const maxKeptAttempts = 21;

/** One attempt of a delivery, as its row keeps it. Times are milliseconds; nothing of the request is kept. */
export type Attempt = { at: number; durationMs: number } & Outcome;

/** The outcome of a claimed delivery; `attempt` is missing if none was made. */
export type Recorded = {
  key: Claimed;
  status: 'pending' | 'delivered' | 'failed' | 'cancelled';
  nextAttemptAt?: number;
  attempt?: Attempt;
};

/**
 * What attempts say of a webhook's receiver: how many failed since the last success, how many succeeded, whether it is
 * overloaded (time-outs, 429, 5xx), or has answered so well that it may get more calls than `window`.
 */
export type ReceiverReport = {
  failures: number;
  successes: number;
  overloaded: boolean;
  widen: boolean;
  window: number;
  /** The latest failure. */
  last?: Pick<Attempt, 'result' | 'status'>;
};

/** What else is recorded with outcomes: `earlier` is to be counted besides, or 'later' if nothing is counted now. */
export type RecordOptions = {
  report?: ReceiverReport | undefined;
  earlier?: Tally | 'later';
  now: number;
};

/**
 * The statements that record outcomes and release the claims, where they still hold: what another worker has claimed
 * since is its. A `report` also moves the receiver's circuit and window: five failures in a row open the circuit,
 * for 30 seconds first, twice as long each time after that, up to 15 minutes; a success closes it. The window is
 * halved or doubled once for all workers that saw the same one, and begins at one call after an outage.
 */
export const recordStatements = (
  db: Database,
  webhookId: string,
  outcomes: Recorded[],
  { report, earlier = noTally, now }: RecordOptions,
) => {
  const ended = outcomes.filter(({ status }) => status !== 'pending');
  const attempted = outcomes
    .filter(({ attempt }) => attempt)
    .map(({ key, status }) => ({ id: key.id, claimedUntil: key.claimedUntil, status }));
  const nothing = () => statement(db)`select 0`;
  return [
    earlier === 'later'
      ? nothing()
      : countAttempts(db, webhookId, attempted, answersOf(outcomes), earlier, now),
    recordOutcomes(db, outcomes, now),
    report ? moveReceiver(db, webhookId, report, now) : nothing(),
    releaseNextLevels(
      db,
      webhookId,
      ended.map(({ key }) => key),
      now,
    ),
  ] as const;
};

/** What these outcomes will be counted as. */
export const tallyOf = (outcomes: Recorded[]): Tally => {
  const attempted = outcomes.filter(({ attempt }) => attempt);
  const count = (wanted: Recorded['status']) => attempted.filter(({ status }) => status === wanted).length;
  return {
    delivered: count('delivered'),
    failed: count('failed'),
    retried: count('pending'),
    answers: answersOf(outcomes),
  };
};

/** How long the receiver took; a time-out counts as an answer that came then, and other failures as none. */
const answersOf = (outcomes: Recorded[]): Answers =>
  addAnswers(
    outcomes.flatMap(({ attempt }) =>
      attempt && (attempt.status !== undefined || attempt.result === 'timeout')
        ? [{ [bucketOf(attempt.durationMs)]: 1 }]
        : [],
    ),
  );

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
      next_attempt_at = coalesce(r.value->>'nextAttemptAt', next_attempt_at),
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
  const window = sql`coalesce(h.window, ${firstWindow})`;
  return statement(db)`
    insert into webhook_health (webhook_id, failures, openings, open_until, window, last_failure)
    select w.id, ${before} + ${failures},
      case when ${opens} then iif(${successes}, 0, coalesce(h.openings, 0)) + 1
        when ${successes} then 0 else coalesce(h.openings, 0) end,
      case when ${opens} then ${now} + min(${circuitLongestMs},
          ${circuitFirstMs} << min(iif(${successes}, 0, coalesce(h.openings, 0)), 10))
        when ${successes} then 0 else coalesce(h.open_until, 0) end,
      case when ${opens} then 1
        when ${overloaded ? 1 : 0} then min(${window}, max(1, cast(${seen} / 2 as integer)))
        when ${widen ? 1 : 0} and ${window} = ${seen} then min(2 * ${window}, ${ceilingOf})
        else ${window} end,
      coalesce(${last ? JSON.stringify(last) : null}, h.last_failure)
    from webhooks w left join webhook_health h on h.webhook_id = w.id where w.id = ${webhookId}
    on conflict (webhook_id) do update set failures = excluded.failures, openings = excluded.openings,
      open_until = excluded.open_until, window = excluded.window, last_failure = excluded.last_failure`;
}

/** What outcomes say of their receiver; undefined if that is nothing new. */
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
    const { result, status = 0 } = attempt;
    report.last = { result, ...(status && { status }) };
    report.overloaded ||= attempt.result === 'timeout' || status === 429 || status >= 500;
  }
  const recovered = report.successes > 0 && (failures > 0 || report.widen);
  return report.failures > 0 || report.overloaded || recovered ? report : undefined;
}
