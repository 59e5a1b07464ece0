import { sql } from 'drizzle-orm';
import { validate as isUuid } from 'uuid';
import { setHealthStatus, setPulledAt } from '../fleet/connections.ts';
import { type Sealed, unseal } from '../platform/crypto.ts';
import {
  type Database,
  jsonList,
  read,
  transaction,
  write,
  writeReturning,
} from '../platform/db/database.ts';
import { newId } from '../platform/db/ids.ts';
import { openDatabase } from '../platform/db/system.ts';
import { send } from '../platform/queue.ts';
import type { Feeds, HealthStatus } from './plan.ts';
import { connectorOf } from './registry.ts';

/** A run ends within 30 s of its claim, so that a second one never overlaps. */
const claimMs = 45_000;

/** How many connections a minute wakes at most, longest waiting first. */
const maxDue = 5_000;

/** A connection that this run has claimed. Times are milliseconds since 1970. */
export type Claimed = {
  connectionId: string;
  accountId: string;
  claim: string;
  provider: string;
  tSP: string;
  incidentTypeMap: Record<string, string[]> | undefined;
  healthStatus: HealthStatus;
  /** Encrypted, as D1 has them. */
  secrets: string;
  session: string | null;
  baseUrl: string;
  historyDays: number;
  connectedAt: number;
  succeededAt: number | null;
  dueAt: number;
  feeds: Feeds;
};

type StoredPull = Omit<Claimed, 'feeds' | 'incidentTypeMap'> & {
  feeds: string;
  incidentTypeMap: string | null;
};

/** The ids of due connections without a claim, of accounts that are active and not being moved. */
export async function dueConnections(env: Env, now = Date.now()): Promise<string[]> {
  const rows = await read<{ id: string }>(openDatabase(env))`
    select connection_id as id from pulls indexed by pulls_due
    where due_at <= ${now} and claimed_until <= ${now} and ${isActive} order by due_at limit ${maxDue}`;
  return rows.map(({ id }) => id);
}

const isActive = sql`exists (select 1 from accounts where id = account_id and status = 'active')`;

/** Claims the due ones of these connections for 45 s. They stay due, so that another run follows a kill. */
export async function claimDue(env: Env, ids: string[], now = Date.now()): Promise<Claimed[]> {
  const db = openDatabase(env);
  const claim = newId();
  const { pulls } = await transaction(db, {
    claimed: write(db)`
      update pulls set claim = ${claim}, claimed_until = ${now + claimMs}
      where connection_id in ${jsonList(ids)} and due_at <= ${now} and claimed_until <= ${now}
        and ${isActive}`,
    pulls: read<StoredPull>(db)`
      select p.connection_id as connectionId, p.account_id as accountId, p.claim, c.provider, c.tsp as tSP,
        c.incident_type_map as incidentTypeMap, c.health_status as healthStatus, p.secrets, p.session,
        p.base_url as baseUrl, p.history_days as historyDays, p.connected_at as connectedAt,
        c.last_pulled_at as succeededAt, p.due_at as dueAt, p.feeds
      from pulls p join connections c on c.id = p.connection_id
      where p.connection_id in ${jsonList(ids)} and p.claim = ${claim}`,
  });
  return pulls.map((row) => ({
    ...row,
    incidentTypeMap: JSON.parse(row.incidentTypeMap ?? 'null') ?? undefined,
    feeds: JSON.parse(row.feeds),
  }));
}

/** What a run has changed; missing properties stay unchanged. */
export type Saved = {
  feeds?: Feeds;
  succeededAt?: number;
  session?: Sealed;
  refusedAt?: number;
  /** Also for lists and the change feed. */
  health?: HealthStatus;
};

/**
 * Saves a run's progress while it has its claim; otherwise it must end: returns undefined. With `end`, ends
 * the run: it is due then, or at once if somebody asked meanwhile. Returns whether it is due.
 */
export async function save(
  env: Env,
  claimed: Claimed,
  { feeds, succeededAt, session, refusedAt, health }: Saved,
  end?: number,
): Promise<boolean | undefined> {
  const db = openDatabase(env);
  const due = refusedAt === undefined ? (end ?? claimed.dueAt) : null;
  const ended = end === undefined ? sql.empty() : sql`claimed_until = 0, claim = null,`;
  const { connectionId: id, accountId, claim } = claimed;
  const now = Date.now();
  const healthy =
    health && sql`health = ${health}, health_at = iif(health = ${health}, health_at, ${now}),`;
  const isNow = sql`exists (select 1 from pulls where connection_id = ${id} and health = ${health ?? null})`;
  const { saved } = await transaction(
    db,
    {
      saved: writeReturning<{ isDue: number }>(db)`
        update pulls set ${ended} ${healthy}
          feeds = coalesce(${feeds ? JSON.stringify(feeds) : null}, feeds),
          session = coalesce(${session ? JSON.stringify(session) : null}, session),
          refused_at = coalesce(${refusedAt ?? null}, refused_at),
          due_at = iif(${due} is null or due_at is ${claimed.dueAt}, ${due}, due_at)
        where connection_id = ${id} and claim = ${claim} returning coalesce(due_at <= ${now}, 0) as isDue`,
      health: health && setHealthStatus(db, { id, accountId, now }, health, isNow),
      pulled: succeededAt === undefined ? undefined : setPulledAt(db, id, succeededAt),
    },
    { repeatable: true },
  );
  return saved[0] && saved[0].isDue === 1;
}

/** Why a record was refused, or what could not be used of it though it was `accepted`. */
export type Refused = { kind: string; sourceId: string; reason: string; accepted?: true };

/** How many of the latest refused records are kept, and of those with warnings. */
export const refusalsKept = 100;

/** Keeps what was wrong with records, for people. The same again is not written. */
export async function keepRefusals(
  env: Env,
  { connectionId }: Claimed,
  refused: Refused[],
  now: number,
): Promise<void> {
  const db = openDatabase(env);
  const latest = [true, undefined].flatMap((accepted) =>
    refused.filter((one) => one.accepted === accepted).slice(-refusalsKept),
  );
  await transaction(
    db,
    [
      write(db)`
        insert into pull_refusals (connection_id, kind, source_id, accepted, reason, at)
        select ${connectionId}, value->>'kind', value->>'sourceId', coalesce(value->>'accepted', 0), value->>'reason',
          ${now}
        from json_each(${JSON.stringify(latest)})
        where exists (select 1 from pulls where connection_id = ${connectionId})
        on conflict do update set accepted = excluded.accepted, reason = excluded.reason, at = excluded.at
        where (accepted, reason) is not (excluded.accepted, excluded.reason)`,
      ...[0, 1].map(
        (accepted) => write(db)`
          delete from pull_refusals where connection_id = ${connectionId} and (kind, source_id) in (
            select kind, source_id from pull_refusals indexed by pull_refusals_by_time
            where connection_id = ${connectionId} and accepted = ${accepted}
            order by at desc limit -1 offset ${refusalsKept})`,
      ),
    ],
    { repeatable: true },
  );
}

/** Deletes the pull of a deleted connection, with its credential. */
export const removePull = (db: Database, connectionId: string) =>
  write(db)`delete from pulls where connection_id = ${connectionId}`;

/** The shortest time between two pulls triggered by webhooks. */
const quietMs = 2_000;

/** A connection whose webhook is called. */
type Rung = { provider: string; secret: string | null; dueAt: number | null };

/**
 * Handles a call of a provider's webhook, whose content is ignored: makes the pull due if it is
 * signed and its account is active. Returns whether it was signed.
 */
export async function ring(
  env: Env,
  connectionId: string,
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (!isUuid(connectionId)) return false;
  const db = openDatabase(env);
  const [found] = await read<Rung>(db)`
    select c.provider, p.webhook_secret as secret, p.due_at as dueAt
    from pulls p join connections c on c.id = p.connection_id
    join accounts a on a.id = p.account_id and a.status <> 'moved'
    where p.connection_id = ${connectionId}`;
  const webhook = found && connectorOf(found.provider)?.webhook;
  if (!webhook || found.secret === null) return false;
  const { secret = '' } = await unseal(env, connectionId, found.secret);
  if (!(await webhook.isSigned(headers, body, secret))) return false;
  const now = Date.now();
  if (found.dueAt === null || (found.dueAt > now - quietMs && found.dueAt <= now)) return true;
  await write(db)`
    update pulls set due_at = ${now} where connection_id = ${connectionId} and due_at is not null
      and ${isActive}`;
  await send(env.DELIVERIES, [{ pull: [connectionId] }]);
  return true;
}
