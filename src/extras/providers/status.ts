import { and, desc, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import { following, type SliceQuery } from '../../core/platform/db/cursor.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { isWithdrawn } from './connected.ts';
import { adviceFor, type Connector, type FeedName, feedNames } from './connector/connector.ts';
import { type Feeds, historyProgress, isFailing, type Planned } from './plan.ts';
import { connectorOf } from './registry.ts';
import { pullRefusals, pulls } from './tables.ts';

const selectPulls = (db: Database, which: SQL | undefined) =>
  db
    .select({
      id: connections.id,
      provider: connections.provider,
      organisation: pulls.organisation,
      organisationId: pulls.organisationId,
      baseUrl: pulls.baseUrl,
      state: stateOf.as('state'),
      hasWebhookSecret: sql`${isNotNull(pulls.webhookSecret)}`.mapWith(Boolean).as('signed'),
      lastPulledAt: connections.lastPulledAt,
      /** Null while nothing is pulled. More than a minute away only when the provider asks us to wait. */
      nextAt: pulls.dueAt,
      historyDays: pulls.historyDays,
      connectedAt: pulls.connectedAt,
      feeds: pulls.feeds,
    })
    .from(pulls)
    .innerJoin(connections, eq(connections.id, pulls.connectionId))
    .where(which);

/** Refused: the credential must be replaced. Withdrawn: consent was. Nothing is pulled then. */
const stateOf = sql<'pulling' | 'paused' | 'refused' | 'withdrawn'>`
  case when ${isWithdrawn(connections.id)} then 'withdrawn'
    when ${isNotNull(pulls.pausedAt)} then 'paused'
    when ${isNotNull(pulls.refusedAt)} then 'refused'
    else 'pulling' end`;

type PullRow = Awaited<ReturnType<typeof selectPulls>>[number];

/** The status of a connection's pull, if it has one. Reads up to 200 refused records. */
export async function pullStatus(env: Env, caller: Caller, id: string) {
  const which = and(eq(pulls.connectionId, id), eq(pulls.accountId, caller.accountId));
  const { found, problems } = await asCaller(env, caller, (db) => {
    const own = db.select({ id: pulls.connectionId }).from(pulls).where(which);
    return {
      found: selectPulls(db, eq(pulls.connectionId, own)),
      problems: db
        .select({
          kind: pullRefusals.kind,
          sourceId: pullRefusals.sourceId,
          accepted: pullRefusals.accepted,
          reason: pullRefusals.reason,
          at: pullRefusals.at,
        })
        .from(pullRefusals)
        .where(eq(pullRefusals.connectionId, own))
        .orderBy(desc(pullRefusals.at)),
    };
  });
  const [pull] = found;
  const summary = pull && summaryOf(pull);
  if (!summary) return undefined;
  const those = (accepted: boolean) =>
    problems.flatMap(({ accepted: is, ...one }) => (is === accepted ? [one] : []));
  return {
    ...summary,
    refusals: those(false),
    warnings: those(true),
  };
}
export type PullStatus = NonNullable<Awaited<ReturnType<typeof pullStatus>>>;

/** How a connection's pulls are doing, without refused records; reads two rows. */
export const pullSummary = async (
  env: Env,
  caller: Caller,
  id: string,
): Promise<PullSummary | undefined> => (await pullSummaries(env, caller, id)).get(id);

/** How the pulls of a slice of connections, or of one, are doing, by their ids; those that do not pull are left out. */
export const pullSummaries = (
  env: Env,
  caller: Caller,
  which: SliceQuery | string,
): Promise<Map<string, PullSummary>> =>
  summariesOf(env, caller, (db) => {
    if (typeof which === 'string') return eq(pulls.connectionId, which);
    return inArray(
      pulls.connectionId,
      db
        .select({ id: connections.id })
        .from(connections)
        .where(and(eq(connections.accountId, caller.accountId), following(connections, which)))
        .orderBy(connections.createdAt, connections.id)
        .limit(which.limit),
    );
  });

async function summariesOf(
  env: Env,
  caller: Caller,
  which: (db: Database) => SQL,
): Promise<Map<string, PullSummary>> {
  const own = sql`+${pulls.accountId} = ${caller.accountId}`;
  const rows = await asCaller(env, caller, (db) => selectPulls(db, and(which(db), own)));
  return new Map(
    rows.flatMap((found) => {
      const summary = summaryOf(found);
      return summary ? [[found.id, summary] as const] : [];
    }),
  );
}

function summaryOf(found: PullRow) {
  const connector = connectorOf(found.provider);
  if (!connector) return undefined;
  const { id: _, connectedAt, feeds, ...shown } = found;
  const { historyDays } = found;
  const planned = { connector, feeds: JSON.parse(feeds) as Feeds, connectedAt, historyDays }; // as pulls write it
  return {
    ...shown,
    feeds: feedNames
      .filter((name) => connector.feeds[name])
      .map((name) => feedStatus(planned, name)),
  };
}
export type PullSummary = NonNullable<ReturnType<typeof summaryOf>>;

function feedStatus(planned: Planned & { connector: Connector }, feed: FeedName) {
  const now = Date.now();
  const problem = planned.feeds[feed]?.problem;
  return {
    feed,
    everyMinutes: planned.connector.feeds[feed]?.everyMinutes ?? 1,
    problem: problem
      ? {
          advice: adviceFor(planned.connector, problem),
          since: problem.since,
          nextAt: problem.until,
          isFailing: isFailing(planned, feed, now),
        }
      : null,
    /** Null for feeds without a history. `share` is from 0 to 1. */
    history: historyProgress(planned, feed, now) ?? null,
  };
}
export type FeedStatus = ReturnType<typeof feedStatus>;
