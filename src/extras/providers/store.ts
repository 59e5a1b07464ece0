import { and, eq, exists, inArray, isNotNull, isNull, lte, ne, sql } from 'drizzle-orm';
import { validate as isUuid } from 'uuid';
import { setHealthStatus, setPulledAt } from '../../core/fleet/connections.ts';
import { type Sealed, unseal } from '../../core/platform/crypto.ts';
import { type Database, jsonList, transaction } from '../../core/platform/db/database.ts';
import { ofActiveAccount } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { accounts, connections } from '../../core/platform/db/schema/accounts.ts';
import type { HealthStatus } from '../../core/platform/db/schema/types.ts';
import { openDatabase } from '../../core/platform/db/system.ts';
import { send } from '../../core/platform/queue.ts';
import type { Feeds } from './plan.ts';
import { connectorOf } from './registry.ts';
import { pulls } from './tables.ts';

/** A run ends within 30 s of its claim, so that a second one never overlaps. */
const claimMs = 45_000;

/** How many connections a minute wakes at most, longest waiting first. */
const maxDue = 5_000;

/** The ids of due connections without a claim, of accounts that are active and not being moved. */
export async function dueConnections(env: Env, now = Date.now()): Promise<string[]> {
  const db = openDatabase(env);
  // The builder knows no `indexed by`.
  const due = db.all<{ id: string }>(sql`
    select connection_id as id from pulls indexed by pulls_due
    where due_at <= ${now} and claimed_until <= ${now} and ${isActive}
    order by due_at limit ${maxDue}`);
  return (await transaction(db, due)).map(({ id }) => id);
}

const isActive = ofActiveAccount(sql`${pulls.accountId}`);

/** Claims the due ones of these connections for 45 s. They stay due, so that another run follows a kill. */
export async function claimDue(env: Env, ids: string[], now = Date.now()) {
  const db = openDatabase(env);
  const claim = newId();
  const named = inArray(pulls.connectionId, jsonList(ids));
  const isFree = and(named, lte(pulls.dueAt, now), lte(pulls.claimedUntil, now), isActive);
  const { taken } = await transaction(db, {
    taken: db
      .select({
        connectionId: pulls.connectionId,
        accountId: pulls.accountId,
        provider: connections.provider,
        tSP: connections.tsp,
        incidentTypeMap: connections.incidentTypeMap,
        healthStatus: connections.healthStatus,
        secrets: pulls.secrets,
        session: pulls.session,
        baseUrl: pulls.baseUrl,
        historyDays: pulls.historyDays,
        connectedAt: pulls.connectedAt,
        succeededAt: connections.lastPulledAt,
        dueAt: sql<number>`${pulls.dueAt}`.as('due'), // only what is due is claimed
        feeds: pulls.feeds,
        /** Whether the run before it was killed, or failed altogether. */
        isInterrupted: sql`${isNotNull(pulls.claim)}`.mapWith(Boolean).as('interrupted'),
      })
      .from(pulls)
      .innerJoin(connections, eq(connections.id, pulls.connectionId))
      .where(isFree),
    claimed: db
      .update(pulls)
      .set({ claim, claimedUntil: now + claimMs })
      .where(isFree),
  });
  return taken.map((row) => ({
    ...row,
    claim,
    incidentTypeMap: row.incidentTypeMap ?? undefined,
    feeds: JSON.parse(row.feeds) as Feeds, // as runs save them
  }));
}

/** A connection that this run has claimed. Times are milliseconds since 1970; secrets are encrypted. */
export type Claimed = Awaited<ReturnType<typeof claimDue>>[number];

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
 * the run: it is due then, or at once if somebody asked meanwhile, but nobody's before `limitedUntil`. Returns
 * whether it is due.
 */
export async function save(
  env: Env,
  claimed: Claimed,
  { feeds, succeededAt, session, refusedAt, health }: Saved,
  end?: number,
  limitedUntil = 0,
): Promise<boolean | undefined> {
  const db = openDatabase(env);
  const due = refusedAt === undefined ? Math.max(end ?? claimed.dueAt, limitedUntil) : null;
  const { connectionId: id, accountId, claim } = claimed;
  const now = Date.now();
  const isOwn = eq(pulls.connectionId, id);
  const isSame = health && eq(pulls.health, health);
  const isNow = exists(db.select({ id: pulls.connectionId }).from(pulls).where(and(isOwn, isSame)));
  const { saved } = await transaction(
    db,
    {
      saved: db
        .update(pulls)
        .set({
          ...(end !== undefined && { claimedUntil: limitedUntil, claim: null }),
          ...(isSame && { health, healthAt: sql`iif(${isSame}, ${pulls.healthAt}, ${now})` }),
          feeds: feeds && JSON.stringify(feeds),
          session,
          refusedAt,
          dueAt: sql`iif(${due} is null or ${pulls.dueAt} is ${claimed.dueAt}, ${due},
            max(${pulls.dueAt}, ${limitedUntil}))`,
        })
        .where(and(isOwn, eq(pulls.claim, claim)))
        .returning({ dueAt: pulls.dueAt }),
      health: health && setHealthStatus(db, { id, accountId, now }, health, isNow),
      pulled: succeededAt === undefined ? undefined : setPulledAt(db, id, succeededAt),
    },
    { repeatable: true },
  );
  return saved[0] && saved[0].dueAt !== null && saved[0].dueAt <= now;
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
      // Set-based: D1 binds too few parameters for so many rows.
      db.run(sql`
        insert into pull_refusals (connection_id, kind, source_id, accepted, reason, at)
        select ${connectionId}, value->>'kind', value->>'sourceId', coalesce(value->>'accepted', 0), value->>'reason',
          ${now}
        from json_each(${JSON.stringify(latest)})
        where exists (select 1 from pulls where connection_id = ${connectionId})
        on conflict do update set accepted = excluded.accepted, reason = excluded.reason, at = excluded.at
        where (accepted, reason) is not (excluded.accepted, excluded.reason)`),
      // The builder knows no `indexed by`.
      ...[0, 1].map((accepted) =>
        db.run(sql`
          delete from pull_refusals where connection_id = ${connectionId} and (kind, source_id) in (
            select kind, source_id from pull_refusals indexed by pull_refusals_by_time
            where connection_id = ${connectionId} and accepted = ${accepted}
            order by at desc limit -1 offset ${refusalsKept})`),
      ),
    ],
    { repeatable: true },
  );
}

/** Deletes the pull of a deleted connection, with its credential. */
export const removePull = (db: Database, connectionId: string) =>
  db.delete(pulls).where(eq(pulls.connectionId, connectionId));

/** How long a pull that was triggered by a webhook may take to begin before it is triggered again. */
const quietMs = 2_000;

/**
 * Handles a call of a provider's webhook, whose content is ignored: makes the pull due if it is
 * signed and its account is active. Returns whether it was signed.
 */
export async function handleProviderWebhook(
  env: Env,
  connectionId: string,
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (!isUuid(connectionId)) return false;
  const db = openDatabase(env);
  const isOwn = eq(pulls.connectionId, connectionId);
  const [found] = await transaction(
    db,
    db
      .select({
        provider: connections.provider,
        secret: pulls.webhookSecret,
        dueAt: pulls.dueAt,
        claim: pulls.claim,
        claimedUntil: pulls.claimedUntil,
      })
      .from(pulls)
      .innerJoin(connections, eq(connections.id, pulls.connectionId))
      .innerJoin(accounts, and(eq(accounts.id, pulls.accountId), ne(accounts.status, 'moved')))
      .where(isOwn),
  );
  const webhook = found && connectorOf(found.provider)?.webhook;
  if (!webhook || found.secret === null) return false;
  const { secret = '' } = await unseal(env, connectionId, found.secret);
  if (!(await webhook.isSigned(headers, body, secret))) return false;
  const now = Date.now();
  // What happened since a run began may not have been read by it.
  const since = found.claim === null ? now - quietMs : found.claimedUntil - claimMs;
  if (found.dueAt === null || (found.dueAt > since && found.dueAt <= now)) return true;
  await transaction(
    db,
    db
      .update(pulls)
      .set({ dueAt: sql`max(${now}, iif(${isNull(pulls.claim)}, ${pulls.claimedUntil}, 0))` })
      .where(and(isOwn, isNotNull(pulls.dueAt), isActive)),
  );
  await send(env.DELIVERIES, [{ pull: [connectionId] }]);
  return true;
}
