import { sql } from 'drizzle-orm';
import { type Database, statement } from '../db/database.ts';
import type { Claimed } from './claim.ts';
import { countEndings } from './counts.ts';
import { circuitAfter, circuitFirstMs, circuitLongestMs, defaultCeiling, type Outcome } from './policy.ts';

/** A row keeps its first attempt and the latest 20; `attempts_omitted` counts the others. */
const maxKeptAttempts = 21;

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
 * What attempts say of a webhook's receiver: how many failed since the last success, how many succeeded, and
 * whether it is overloaded (time-outs, 429, 5xx).
 */
export type ReceiverReport = { failures: number; successes: number; overloaded: boolean };

/**
 * The statements that record outcomes and release the claims, where they still hold: what another lane has claimed
 * since is its. A `report` also moves the receiver's circuit and window: five failures in a row open the circuit,
 * for 30 seconds first, twice as long each time after that, up to 15 minutes; a success closes it. An overloaded
 * receiver's window is halved; successes widen it again.
 */
export const recordStatements = (
  db: Database,
  webhookId: string,
  outcomes: Recorded[],
  report: ReceiverReport | undefined,
  now: number,
) =>
  [
    countEndings(
      db,
      webhookId,
      outcomes.map(({ key, status }) => ({ id: key.id, claimedUntil: key.claimedUntil, status })),
      now,
    ),
    recordOutcomes(db, outcomes, now),
    report ? moveCircuit(db, webhookId, report, now) : statement(db, sql`select 0`),
  ] as const;

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
  return statement(
    db,
    sql`
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
      and status = 'pending' and claimed_until = r.value->>'claimedUntil'`,
  );
}

function moveCircuit(
  db: Database,
  webhookId: string,
  { failures, successes, overloaded }: ReceiverReport,
  now: number,
) {
  const before = sql`iif(${successes}, 0, coalesce(h.failures, 0))`;
  const opens = sql`(${failures} > 0 and ${before} + ${failures} >= ${circuitAfter}
    and coalesce(h.open_until, 0) <= ${now})`;
  const window = sql`coalesce(h.window, ${defaultCeiling})`;
  return statement(
    db,
    sql`
    insert into webhook_health (webhook_id, failures, openings, open_until, window)
    select w.id, ${before} + ${failures},
      case when ${opens} then iif(${successes}, 0, coalesce(h.openings, 0)) + 1
        when ${successes} then 0 else coalesce(h.openings, 0) end,
      case when ${opens} then ${now} + min(${circuitLongestMs},
          ${circuitFirstMs} << min(iif(${successes}, 0, coalesce(h.openings, 0)), 10))
        when ${successes} then 0 else coalesce(h.open_until, 0) end,
      case when ${overloaded ? 1 : 0} then max(1, cast(${window} / 2 as integer))
        else min(${defaultCeiling}, ${window} + ${successes}) end
    from webhooks w left join webhook_health h on h.webhook_id = w.id where w.id = ${webhookId}
    on conflict (webhook_id) do update set failures = excluded.failures, openings = excluded.openings,
      open_until = excluded.open_until, window = excluded.window`,
  );
}

/** What outcomes say of their receiver; undefined if that is nothing new for one in this state. */
export function reportOf(
  outcomes: Recorded[],
  known: { failures: number; window: number },
): ReceiverReport | undefined {
  const report = { failures: 0, successes: 0, overloaded: false };
  for (const { attempt } of outcomes) {
    if (!attempt) continue;
    if (attempt.result === 'success') {
      report.failures = 0;
      report.successes++;
      continue;
    }
    report.failures++;
    const { status = 0 } = attempt;
    report.overloaded ||= attempt.result === 'timeout' || status === 429 || status >= 500;
  }
  const news =
    report.failures > 0 ||
    report.overloaded ||
    (report.successes > 0 && (known.failures > 0 || known.window < defaultCeiling));
  return news ? report : undefined;
}
