import { type SQL, sql } from 'drizzle-orm';
import { config } from '../../platform/config.ts';
import { statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { firstIdAt } from '../../platform/db/ids.ts';
import { invalid } from '../../platform/errors.ts';
import { typeOf } from '../notifications/of-delivery.ts';
import { giveUpAfterMs, maxReplayCounted } from './policy.ts';

/**
 * Which finished deliveries of a webhook to replay: missed ones, which failed or were cancelled, or delivered ones as
 * well; created in a time span (milliseconds since 1970), and after the delivery `after`.
 */
export type ReplaySelection = {
  since?: number | undefined;
  until?: number | undefined;
  includeDelivered?: boolean | undefined;
  after?: string | undefined;
};

/** A range of Delivery-Ids, without its ends. */
export type IdRange = { from: string; to: string; includeDelivered: boolean };

/** How long before the end of retention a delivery can no longer be replayed, because it might be deleted first. */
const marginMs = 2 * giveUpAfterMs;

/** The age up to which a delivery can be replayed, in milliseconds. */
export const replayableMs = (env: Env): number => Math.max(0, config(env).retentionMs - marginMs);

/** Sorts after every id. */
const END = '~';

/**
 * The id ranges of a selection: those that can be replayed, and those that are too old.
 *
 * @throws Refusal: invalid, for an empty time span
 */
export function idRanges(
  env: Env,
  { since = 0, until, includeDelivered = false, after = '' }: ReplaySelection,
  now: number,
): { ids: IdRange; tooOld: IdRange } {
  if (until !== undefined && since >= until)
    throw invalid('since must be before until', [{ field: 'since', message: 'must be before until' }]);
  // No delivery has the first id of a time, so ranges can exclude their ends.
  const oldest = firstIdAt(now - replayableMs(env));
  const from = later(firstIdAt(since), after);
  const to = until === undefined ? END : firstIdAt(until);
  return {
    ids: { from: later(from, oldest), to, includeDelivered },
    tooOld: { from, to: earlier(to, oldest), includeDelivered },
  };
}

const later = (a: string, b: string): string => (a > b ? a : b);
const earlier = (a: string, b: string): string => (a < b ? a : b);

/** SQL for the id of a webhook, null if it is not the account's. */
export const ownWebhook = ({ accountId }: Caller, id: string): SQL =>
  sql`(select id from webhooks where id = ${id} and account_id = ${accountId})`;

/**
 * SQL for the first deliveries of a range, by id, read from an index. Some of them cannot be replayed after all, so it
 * reads at most `limit` rows of a status.
 */
export function candidates(webhook: SQL, { from, to, includeDelivered }: IdRange, limit: number): SQL {
  const columns = sql`select webhook_id, id, event_id, level, status, connection_id`;
  const inRange = sql`webhook_id = ${webhook} and id > ${from} and id < ${to}`;
  const first = sql`order by id limit ${limit}`;
  if (includeDelivered) return sql`${columns} from deliveries where ${inRange} ${first}`;
  return sql`
    select * from (
      ${columns} from deliveries indexed by deliveries_failed where status = 'failed' and ${inRange} ${first})
    union all
    select * from (
      ${columns} from deliveries indexed by deliveries_cancelled where status = 'cancelled' and ${inRange} ${first})
    ${first}`;
}

/** SQL for whether the candidate `d` can be replayed: it is finished, and its webhook subscribes to it. */
export const isReplayable: SQL = sql`(d.status <> 'pending' and exists (
  select 1 from webhook_connections wc
  where wc.connection_id = coalesce(d.connection_id, (
      select connection_id from notifications n where n.event_id = d.event_id and n.level = d.level))
    and wc.webhook_id = d.webhook_id and wc.notification_types & ${typeOf()}))`;

/**
 * How many deliveries a replay would send. With `more`, only the first 10,000 of the selection were checked. `tooOld`
 * counts those excluded by age, up to 10,000.
 */
export type ReplayCount = { count: number; more: boolean; tooOld: number };

/** How many a transaction checks, so that it does not block D1 for long. */
const perChunk = 2500;

/**
 * Counts what `replay` would send of one of the account's webhooks.
 *
 * @throws Refusal: invalid, for an empty time span; unauthenticated, forbidden, unavailable
 */
export async function countReplayable(
  env: Env,
  caller: Caller,
  webhookId: string,
  selection: ReplaySelection,
): Promise<ReplayCount> {
  const whose = ownWebhook(caller, webhookId);
  let { ids, tooOld } = idRanges(env, selection, Date.now());
  const counted = { count: 0, more: true, tooOld: 0 };
  for (let looked = 0; counted.more && looked < maxReplayCounted; looked += perChunk) {
    const [[first], [old]] = await asCaller(env, caller, (db) => [
      statement<{ looked: number; count: number; last: string | null }>(db)`
          select count(*) as looked, coalesce(sum(${isReplayable}), 0) as count, max(id) as last
            from (${candidates(whose, ids, perChunk)}) d`,
      statement<{ count: number }>(db)`${
        looked > 0
          ? sql`select 0 as count`
          : sql`select coalesce(sum(status <> 'pending'), 0) as count
                from (${candidates(whose, tooOld, maxReplayCounted)})`
      }`,
    ]);
    counted.count += first?.count ?? 0;
    counted.tooOld += old?.count ?? 0;
    counted.more = first?.looked === perChunk;
    ids = { ...ids, from: first?.last ?? ids.from };
  }
  return counted;
}
