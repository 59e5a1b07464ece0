import { type SQL, sql } from 'drizzle-orm';
import { type Database, write } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import type { Attempt } from '../policy.ts';
import * as policy from '../policy.ts';
import { ceilingOf } from './window.ts';

/** What attempts reveal about a receiver; `overloaded` by timeouts, 429 or 5xx. */
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

/** What outcomes reveal about their receiver; undefined if that is nothing new. */
export function reportOf(
  outcomes: { attempt?: Attempt }[],
  { failures, window, more }: { failures: number; window: number; more: number },
): ReceiverReport | undefined {
  const report: ReceiverReport = { failures: 0, successes: 0, overloaded: false, widen: more === 1, window };
  for (const { attempt } of outcomes) {
    if (!attempt) continue;
    report.widen &&= attempt.result === 'success' && attempt.durationMs <= policy.inTimeMs;
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
    report.recovered = failures >= policy.circuitAfter ? 'open' : 'failing';
  const isNews =
    report.failures > 0 || report.overloaded || (report.successes > 0 && (failures > 0 || report.widen));
  return isNews ? report : undefined;
}

/** Moves a webhook's circuit and window by what its receiver has shown. */
export function moveReceiver(
  db: Database,
  webhookId: string,
  { failures, successes, overloaded, widen, window: seen, last }: ReceiverReport,
  now: number,
) {
  const before = sql`iif(${successes}, 0, coalesce(h.failures, 0))`;
  const opens = sql`(${failures} > 0 and ${before} + ${failures} >= ${policy.circuitAfter}
    and coalesce(h.open_until, 0) <= ${now})`;
  const openings = sql`iif(${successes}, 0, coalesce(h.openings, 0))`;
  const accidentWaits = sql`exists (select 1 from deliveries indexed by deliveries_due
    where webhook_id = w.id and status = 'pending' and priority = 0)`;
  const window = sql`coalesce(h.window, ${policy.firstWindow})`;
  return write(db)`
    insert into webhook_health (webhook_id, failures, openings, open_until, window, last_failure, paused_since)
    select w.id, ${before} + ${failures},
      case when ${opens} then ${openings} + 1
        when ${successes} then 0 else coalesce(h.openings, 0) end,
      case when ${opens} then ${now} + iif(${openings} < ${policy.circuitAccidentOpenings} and ${accidentWaits},
          ${policy.accidentRetryMs}, min(${policy.circuitLongestMs}, ${policy.circuitFirstMs} << min(${openings}, 10)))
        when ${successes} then 0 else coalesce(h.open_until, 0) end,
      case when ${opens} then 1
        when ${overloaded ? 1 : 0} then min(${window}, max(1, cast(${seen} / 2 as integer)))
        when ${widen ? 1 : 0} and ${window} = ${seen} then min(2 * ${window}, ${ceilingOf})
        else ${window} end,
      coalesce(${last ? JSON.stringify(last) : null}, h.last_failure),
      case when ${before} + ${failures} >= ${policy.circuitAfter} then coalesce(h.paused_since, ${now}) end
    from webhooks w left join webhook_health h on h.webhook_id = w.id where w.id = ${webhookId}
    on conflict (webhook_id) do update set failures = excluded.failures, openings = excluded.openings,
      open_until = excluded.open_until, window = excluded.window, last_failure = excluded.last_failure,
      paused_since = excluded.paused_since`;
}

/** The retries that a recovered receiver gets early, unless it asked to postpone them. */
export const waitingRetries = (webhookId: string, was: 'failing' | 'open', now: number): SQL => sql`
  select * from (
    select webhook_id, id from deliveries indexed by deliveries_due
    where webhook_id = ${webhookId} and status = 'pending' and priority in (0, 1, 2, 3) and next_attempt_at > ${now}
      ${was === 'failing' ? sql`and next_attempt_at <= ${now + policy.retrySoonMs}` : undefined}
      and attempts > 0 and claimed_until <= ${now} and log ->> '$[#-1].retryAfter' is null
      and (priority > 0 or log ->> '$[#-1].at' <= ${now - policy.accidentPauseMs})
    order by priority, next_attempt_at limit ${policy.maxRetriedAtOnce})`;

/** Ends an open circuit by this time, for a new accident, and lets it open briefly again. */
export const probeSooner = (env: Env, webhookId: string, at: number): Promise<unknown> =>
  write(openDatabase(env))`
    update webhook_health set open_until = ${at}, openings = 0 where webhook_id = ${webhookId} and open_until > ${at}`;

/** Lets a call through an open circuit at once. */
export const allowProbe = (db: Database, webhook: SQL, now: number) =>
  write(db)`update webhook_health set open_until = ${now} where webhook_id = ${webhook}`;
