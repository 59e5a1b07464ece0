import { and, count, eq, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { type Database, transaction } from '../core/platform/db/database.ts';
import { ofActiveAccount } from '../core/platform/db/guard.ts';
import { createdAtOf } from '../core/platform/db/ids.ts';
import { connections } from '../core/platform/db/schema/accounts.ts';
import { webhookHours, webhooks } from '../core/platform/db/schema/webhooks.ts';
import { openDatabase } from '../core/platform/db/system.ts';
import { countedHours, hourOf } from '../core/webhooks/deliveries/counts.ts';
import { declared } from '../extras.ts';
import { maxPendingCounted } from './api/counted.ts';
import { checkHealth } from './health/service.ts';
import { accidentsInTime, selectWaits } from './waits.ts';

const metrics = {
  fleet_database_up: 'Whether D1 responds.',
  fleet_database_bytes: 'Size of the database; D1 takes 10 GB.',
  fleet_database_round_trip_seconds: 'How long the query of this report took.',
  fleet_sweep_age_seconds: 'Time since the last sweep, which runs each minute.',
  fleet_queue_backlog: 'Messages in the queue.',
  fleet_deliveries_pending: `Deliveries that have not ended, retries included; at most ${maxPendingCounted}. Those of suspended accounts do not count.`,
  fleet_delivery_oldest_due_seconds:
    'How long the oldest unclaimed delivery has been due, as of the last sweep.',
  fleet_accident_oldest_undelivered_seconds:
    'Age of the oldest notification of an accident that has not been delivered, unless its account is suspended.',
  fleet_accidents_in_time_ratio:
    'Share of accidents first attempted within 5 s, in this hour (UTC) and in 24, tests and replays aside.',
  fleet_deliveries_this_hour:
    'Deliveries that have ended in this hour (UTC), and attempts that will be repeated, by outcome.',
  fleet_connections_with_problems: `Connections that are late, degraded or disconnected; at most ${maxPendingCounted}.`,
};

type Value = number | null | undefined;
/** What was measured: values, by label if there are several; what is unknown is not shown. */
type Measured = { [metric: string]: Value | { [label: string]: Value } };

/** The metrics in the text format of Prometheus; fewer if D1 does not respond. */
export async function metricsText(env: Env): Promise<string> {
  const measured = await measure(env);
  const about = Object.assign({}, metrics, ...declared('metrics').map((one) => one.about));
  const lines = Object.entries(about).flatMap(([name, help]) => {
    const { [name]: found } = measured;
    const values =
      typeof found === 'object' && found ? Object.entries(found) : [['', found] as const];
    return [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      ...values.flatMap(([label, number]) =>
        typeof number === 'number'
          ? [`${name}${label && `{${label}}`} ${Number.isFinite(number) ? number : '+Inf'}`]
          : [],
      ),
    ];
  });
  return `${lines.join('\n')}\n`;
}

async function measure(env: Env): Promise<Measured> {
  const [health, counted] = await Promise.all([
    checkHealth(env),
    counts(env, Date.now()).catch(() => ({})),
  ]);
  const isUp = health.database === 'ok';
  return {
    fleet_database_up: Number(isUp),
    fleet_database_bytes: health.size?.bytes,
    fleet_sweep_age_seconds: health.sweptSecondsAgo,
    fleet_queue_backlog: health.queueBacklog,
    fleet_delivery_oldest_due_seconds: isUp ? (health.oldestDueSeconds ?? 0) : null,
    ...counted,
  };
}

/** For how many webhooks the hour's counters are read. */
const maxWebhooks = 10_000;

async function counts(env: Env, now: number): Promise<Measured> {
  const db = openDatabase(env);
  const { waits, ended, others, problems } = await transaction(db, {
    waits: selectWaits(db, now),
    ended: selectEnded(db, now),
    others: declared('metrics').map(({ measure }) => measure(db, now)),
    problems: selectProblems(db),
  });
  const [waiting] = waits.waiting;
  const accident = waiting?.oldestAccident;
  const secondsSince = (at: Value) => (at ? Math.max(0, (now - at) / 1000) : 0);
  const { hour: thisHour, day } = accidentsInTime(waits, now);
  return {
    fleet_database_round_trip_seconds: (Date.now() - now) / 1000,
    fleet_deliveries_pending: waiting?.pending,
    fleet_accident_oldest_undelivered_seconds: secondsSince(
      accident ? createdAtOf(accident) : null,
    ),
    fleet_accidents_in_time_ratio: { 'span="hour"': thisHour.inTime, 'span="day"': day.inTime },
    fleet_deliveries_this_hour: {
      'outcome="delivered"': ended[0]?.delivered,
      'outcome="failed"': ended[0]?.failed,
      'outcome="retried"': ended[0]?.retried,
    },
    fleet_connections_with_problems: problems[0]?.count,
    ...Object.assign({}, ...others.flat()),
  };
}

/** How many deliveries have ended in this hour. */
function selectEnded(db: Database, now: number) {
  const hour = hourOf(now);
  const isNow = and(
    eq(webhookHours.webhookId, webhooks.id),
    eq(webhookHours.slot, hour % countedHours),
    eq(webhookHours.hour, hour),
  );
  const counted = db
    .select({
      delivered: webhookHours.delivered,
      failed: webhookHours.failed,
      retried: webhookHours.retried,
    })
    .from(webhooks)
    .crossJoin(webhookHours)
    .where(isNow)
    .limit(maxWebhooks)
    .as('counted');
  return db
    .select({
      delivered: sum(counted.delivered).as('sum_delivered'),
      failed: sum(counted.failed).as('sum_failed'),
      retried: sum(counted.retried).as('sum_retried'),
    })
    .from(counted);
}

const sum = (column: SQLiteColumn) => sql<number>`coalesce(sum(${column}), 0)`;

function selectProblems(db: Database) {
  const some = db
    .select({ id: connections.id })
    .from(connections)
    .where(
      and(sql`${connections.healthStatus} <> 1`, ofActiveAccount(sql`${connections.accountId}`)),
    )
    .limit(maxPendingCounted)
    .as('some');
  return db.select({ count: count() }).from(some);
}
