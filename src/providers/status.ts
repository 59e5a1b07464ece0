import { type SQL, sql } from 'drizzle-orm';
import { selectWords, unmappedOf } from '../fleet/counts.ts';
import { following, type SliceQuery } from '../platform/db/cursor.ts';
import { read } from '../platform/db/database.ts';
import { asCaller, type Caller, rowsFor } from '../platform/db/guard.ts';
import { connections } from '../platform/db/schema/accounts.ts';
import { isWithdrawn } from './connect.ts';
import { adviceFor, type Connector, type FeedName, feedNames } from './connector.ts';
import { type Feeds, historyProgress, isFailing, type Planned } from './plan.ts';
import { connectorOf } from './registry.ts';

type PullRow = {
  id: string;
  provider: string;
  organisation: string;
  /** Equal for two credentials of the same organisation. */
  organisationId: string;
  baseUrl: string;
  /** Refused: the credential must be replaced. Withdrawn: consent was. Nothing is pulled then. */
  state: 'pulling' | 'paused' | 'refused' | 'withdrawn';
  hasWebhookSecret: number;
  lastPulledAt: number | null;
  /** Null while nothing is pulled. More than a minute away only when the provider asks us to wait. */
  nextAt: number | null;
  historyDays: number;
  connectedAt: number;
  incidentTypeMap: string | null;
  feeds: string;
};

const row = sql`
  select c.id, c.provider, p.organisation,
    p.organisation_id as organisationId, p.base_url as baseUrl,
    case when ${isWithdrawn(sql`c.id`)} then 'withdrawn' when p.paused_at is not null then 'paused'
      when p.refused_at is not null then 'refused' else 'pulling' end as state,
    p.webhook_secret is not null as hasWebhookSecret, c.last_pulled_at as lastPulledAt, p.due_at as nextAt,
    p.history_days as historyDays, p.connected_at as connectedAt, c.incident_type_map as incidentTypeMap, p.feeds
  from pulls p join connections c on c.id = p.connection_id`;

/** The status of a connection's pull, if it has one. Reads up to 1,000 events and 200 refused records. */
export async function pullStatus(env: Env, caller: Caller, id: string) {
  const own = sql`(select connection_id from pulls where connection_id = ${id} and account_id = ${caller.accountId})`;
  const { pulls, problems, words } = await asCaller(env, caller, (db) => ({
    pulls: read<PullRow>(db)`${row} where p.connection_id = ${own}`,
    problems: read<{
      kind: string;
      sourceId: string;
      accepted: number;
      reason: string;
      at: number;
    }>(db)`
      select kind, source_id as sourceId, accepted, reason, at from pull_refusals
      where connection_id = ${own} order by at desc`,
    words: selectWords(db, own),
  }));
  const [found] = pulls;
  const summary = found && summaryOf(found);
  if (!summary) return undefined;
  const map = found.incidentTypeMap;
  const feed = {
    provider: found.provider,
    incidentTypeMap: map === null ? undefined : JSON.parse(map),
  };
  const those = (accepted: number) =>
    problems.flatMap(({ accepted: is, ...one }) => (is === accepted ? [one] : []));
  return { ...summary, refusals: those(0), warnings: those(1), unmapped: unmappedOf(feed, words) };
}
export type PullStatus = NonNullable<Awaited<ReturnType<typeof pullStatus>>>;

/** How a connection's pulls are doing, without refused records and labels; reads two rows. */
export const pullSummary = async (
  env: Env,
  caller: Caller,
  id: string,
): Promise<PullSummary | undefined> => (await summariesOf(env, caller, sql`(${id})`)).get(id);

/** How the pulls of these connections are doing, by their ids; those that do not pull are left out. */
export const pullSummaries = (
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Map<string, PullSummary>> =>
  summariesOf(
    env,
    caller,
    sql`(select id from connections
      where account_id = ${caller.accountId} and ${following(connections, slice) ?? sql`true`}
      order by created_at, id limit ${slice.limit})`,
  );

async function summariesOf(env: Env, caller: Caller, ids: SQL): Promise<Map<string, PullSummary>> {
  const which = sql`p.connection_id in ${ids} and +p.account_id = ${caller.accountId}`;
  const rows = await rowsFor<PullRow>(env, caller)`${row} where ${which}`;
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
  const { id: _, connectedAt, incidentTypeMap, feeds, ...shown } = found;
  const { historyDays } = found;
  const planned = { connector, feeds: JSON.parse(feeds) as Feeds, connectedAt, historyDays }; // as pulls write it
  return {
    ...shown,
    hasWebhookSecret: found.hasWebhookSecret === 1,
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
