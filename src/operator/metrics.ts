import { sql } from 'drizzle-orm';
import { openDatabase, statement, transaction } from '../platform/db/database.ts';
import { createdAtOf } from '../platform/db/ids.ts';
import { homesOf } from '../platform/homes/homes.ts';
import { countedHours, hourOf } from '../webhooks/deliveries/counts.ts';
import { levelsOf, type ServiceLevel, selectWaits, waitsIn } from '../webhooks/service-levels.ts';
import { maxPendingCounted } from './api/counted.ts';
import type { HomeHealth } from './api/service.ts';
import { checkHealth } from './health/service.ts';

/** What one query counts in a home; times in milliseconds since 1970. */
type Counted = {
  delivered: number;
  failed: number;
  retried: number;
  pullsDue: number;
  pullDueAt: number | null;
  problems: number;
};

/** A home's measurements: `counted` is null if its database did not respond within `ms`. */
type Measured = { health: HomeHealth; counted: Found | null; ms: number; now: number };
type Found = Counted & {
  pending: number;
  accident: string | undefined;
  levels: ReturnType<typeof levelsOf>;
};

/** A value of the service levels of each kind and span, by labels, followed by `more`. */
function byKind({ levels }: Found, more: string, value: (level: ServiceLevel) => number | null) {
  const labelled = Object.entries(levels).flatMap(([span, kinds]) =>
    Object.entries(kinds).map(([kind, level]) => [`kind="${kind}",span="${span}"${more}`, value(level)]),
  );
  return Object.fromEntries(labelled);
}

const byQuantile = (found: Found, of: 'firstAttempt' | 'delivered') => ({
  ...byKind(found, ',quantile="0.5"', (level) => level[of].p50),
  ...byKind(found, ',quantile="0.95"', (level) => level[of].p95),
  ...byKind(found, ',quantile="0.99"', (level) => level[of].p99),
});

const ageSeconds = (since: number | null | undefined, now: number): number =>
  since ? Math.max(0, (now - since) / 1000) : 0;

/** Each metric: its help text, and its value in a home, by label if there are several; null if unknown. */
const metrics: {
  [name: string]: {
    help: string;
    value: (home: Measured) => number | null | undefined | { [label: string]: number | null | undefined };
  };
} = {
  fleet_database_up: {
    help: 'Whether D1 responds.',
    value: ({ health }) => Number(health.database === 'ok'),
  },
  fleet_database_bytes: {
    help: 'Size of the database; D1 takes 10 GB.',
    value: ({ health }) => health.size?.bytes,
  },
  fleet_database_round_trip_seconds: {
    help: 'How long the query of this report took.',
    value: ({ counted, ms }) => counted && ms / 1000,
  },
  fleet_sweep_age_seconds: {
    help: 'Time since the last sweep, which runs each minute.',
    value: ({ health }) => health.sweptSecondsAgo,
  },
  fleet_queue_backlog: { help: 'Messages in the queue.', value: ({ health }) => health.queueBacklog },
  fleet_deliveries_pending: {
    help: `Deliveries that have not ended, retries included; at most ${maxPendingCounted}.`,
    value: ({ counted }) => counted?.pending,
  },
  fleet_delivery_oldest_due_seconds: {
    help: 'How long the oldest unclaimed delivery has been due, as of the last sweep.',
    value: ({ health }) => (health.database === 'ok' ? (health.oldestDueSeconds ?? 0) : null),
  },
  fleet_accident_oldest_undelivered_seconds: {
    help: 'Age of the oldest notification of an accident that has not been delivered, whatever the reason.',
    value: ({ counted, now }) =>
      counted && ageSeconds(counted.accident === undefined ? null : createdAtOf(counted.accident), now),
  },
  fleet_delivery_first_attempt_seconds: {
    help: 'From the receipt of a notification to the first attempt, tests and replays aside.',
    value: ({ counted }) => counted && byQuantile(counted, 'firstAttempt'),
  },
  fleet_delivery_success_seconds: {
    help: 'From the receipt of a notification to its delivery; pending ones count with their age.',
    value: ({ counted }) => counted && byQuantile(counted, 'delivered'),
  },
  fleet_delivery_first_attempt_in_time_ratio: {
    help: 'Share of the notifications first attempted within 5 s.',
    value: ({ counted }) => counted && byKind(counted, '', ({ inTime }) => inTime),
  },
  fleet_deliveries_this_hour: {
    help: 'Deliveries that have ended in this hour (UTC), and attempts that will be repeated, by outcome.',
    value: ({ counted }) => ({
      'outcome="delivered"': counted?.delivered,
      'outcome="failed"': counted?.failed,
      'outcome="retried"': counted?.retried,
    }),
  },
  fleet_pulls_due: {
    help: `Connections that are due to be pulled; at most ${maxPendingCounted}.`,
    value: ({ counted }) => counted?.pullsDue,
  },
  fleet_pull_oldest_due_seconds: {
    help: 'How long the oldest of them has been due.',
    value: ({ counted, now }) => counted && ageSeconds(counted.pullDueAt, now),
  },
  fleet_connections_with_problems: {
    help: `Connections that are late, degraded or disconnected; at most ${maxPendingCounted}.`,
    value: ({ counted }) => counted?.problems,
  },
};

/** All homes' metrics in the text format of Prometheus. A home that does not respond has fewer. */
export async function metricsText(env: Env): Promise<string> {
  const homes = await Promise.all(
    [...homesOf(env)].map(async ([name, home]) => [name, await measure(home)] as const),
  );
  const lines = Object.entries(metrics).flatMap(([name, { help, value }]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...homes.flatMap(([home, measured]) => {
      const found = value(measured);
      const values = typeof found === 'object' && found ? Object.entries(found) : [['', found] as const];
      return values.flatMap(([label, number]) =>
        typeof number === 'number'
          ? [`${name}{home="${home}"${label && `,${label}`}} ${Number.isFinite(number) ? number : '+Inf'}`]
          : [],
      );
    }),
  ]);
  return `${lines.join('\n')}\n`;
}

async function measure(env: Env): Promise<Measured> {
  const now = Date.now();
  const [health, counted] = await Promise.all([checkHealth(env), count(env, now).catch(() => null)]);
  return { health, counted: counted?.row ?? null, ms: counted?.ms ?? 0, now };
}

/** For how many webhooks the hour's counters are read. */
const maxWebhooks = 10_000;

async function count(env: Env, now: number): Promise<{ row: Found; ms: number }> {
  const hour = hourOf(now);
  const upTo = sql`limit ${maxPendingCounted}`;
  const db = openDatabase(env);
  const [counted, waiting, [row]] = await transaction(
    db,
    [
      ...selectWaits(db, undefined, now),
      statement<Counted>(db)`
    with hour as (
      select h.delivered, h.failed, h.retried from webhooks w
      cross join webhook_hours h on h.webhook_id = w.id and h.slot = ${hour % countedHours}
      where h.hour = ${hour} limit ${maxWebhooks})
    select
      (select coalesce(sum(delivered), 0) from hour) as delivered,
      (select coalesce(sum(failed), 0) from hour) as failed,
      (select coalesce(sum(retried), 0) from hour) as retried,
      (select count(*) from (select 1 from pulls where due_at <= ${now} ${upTo})) as pullsDue,
      (select min(due_at) from pulls where due_at <= ${now}) as pullDueAt,
      (select count(*) from (
        select 1 from connections indexed by connections_with_problems where health_status <> 1 ${upTo})) as problems`,
    ],
    { repeatable: true },
  );
  if (!row) throw new Error('A query without a condition has a row');
  const pending = waiting.reduce((sum, one) => sum + one.pending, 0);
  const [accident] = waiting.flatMap((one) => (one.accident ? [one.oldest] : [])).sort();
  const levels = levelsOf(waitsIn(counted, waiting, now));
  return { row: { ...row, pending, accident, levels }, ms: Date.now() - now };
}
