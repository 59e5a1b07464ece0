import { and, type SQL, sql } from 'drizzle-orm';
import { type CursorKeys, decodeCursor, encodeCursor, invalidCursor } from '../../platform/db/cursor.ts';
import { type Database, refuseUnless, statement } from '../../platform/db/database.ts';
import type { Caller } from '../../platform/db/guard.ts';
import { createdAtOf, firstIdAt } from '../../platform/db/ids.ts';
import { maxScanned } from '../../platform/db/pages.ts';
import { bookmarkOf, continueFrom, readAsCaller } from '../../platform/db/replica-reads.ts';
import { parse, timestamp } from '../../platform/fields.ts';
import { rangeOf } from '../../platform/query.ts';
import { accidentLevels, EVENT, EVENT_LEVEL, typeOfLevel } from '../notifications/types.ts';
import type { Delivery } from './queries.ts';
import { failedOldestFirst, ofEvent, oldestFirst, pendingAsDue, type Walk } from './read-orders.ts';
import type { Attempt } from './record.ts';
import { DeliveryListQuery, type DeliverySummary } from './schema.ts';

/**
 * Reads one page of the deliveries for the account's webhooks, webhook by webhook. Returns its items and
 * the cursor of the next page, if there is one. A page is short, with a next one, when its filters have let too few
 * of `maxScanned` deliveries pass. Items are so small that 500 of them stay far below `maxPageBytes`.
 *
 * @throws Refusal: invalid, naming the parameter; unauthenticated; forbidden
 */
export async function readDeliveries(
  env: Env,
  caller: Caller,
  query: Record<string, string[]>,
): Promise<{ items: DeliverySummary[]; next?: string }> {
  const { limit, cursor, from, to, ...filters } = parse(DeliveryListQuery, query);
  const range = rangeOf(from, to);
  const identity = JSON.stringify(['/deliveries', caller.accountId, range, filters]);
  const walk = walkFor(caller, filters);
  const place = cursor === undefined ? undefined : decodeCursor(cursor, identity);
  const after = place && walk.after(place);
  if (cursor !== undefined && !after) throw invalidCursor();

  continueFrom(env, caller, cursor);
  const [, rows] = await readAsCaller(env, caller, (db) => [
    refuseUnless(db, ownsWebhook(caller, filters.webhookId), 'unknown webhook'),
    selectPage(db, caller, { walk, after, limit, ...filters, ...range }),
  ]);
  const passed = rows.filter(({ hit }) => hit);
  const page = passed.slice(0, limit);
  const next = placeOf(passed.length > limit ? page.at(-1) : rows.find(({ nth }) => nth === maxScanned));
  return {
    items: page.map(present),
    ...(next && { next: encodeCursor(next, identity, bookmarkOf(env, caller)) }),
  };
}

type Filters = Pick<DeliveryListQuery, 'webhookId' | 'status' | 'type' | 'eventId'>;

/** The walk that reads the least: that of the event, else that of the status, if it has one. */
function walkFor({ accountId }: Caller, { eventId, status }: Filters): Walk {
  if (eventId) return ofEvent(accountId, eventId);
  if (status === 'pending') return pendingAsDue;
  return status === 'failed' ? failedOldestFirst : oldestFirst;
}

const ownsWebhook = ({ accountId }: Caller, id: string | undefined): SQL =>
  id === undefined
    ? sql`true`
    : sql`exists (select 1 from webhooks where id = ${id} and account_id = ${accountId})`;

type PageRequest = Filters & {
  walk: Walk;
  after: SQL | undefined;
  limit: number;
  from?: number;
  to?: number;
};

/** A delivery as it was read. `last` is its latest attempt, `at` its place in the walk, both as JSON. */
type Row = Omit<Delivery, 'type' | 'finishedAt' | 'requestId' | 'log' | 'attemptsOmitted'> & {
  last: string | null;
  at: string;
  /** Whether it passes the filters, and which of those that were looked at it is, from 1. */
  hit: number;
  nth: number;
};

/** The deliveries that pass, in order: one more than a page, or as far as may be scanned, and the last one scanned. */
function selectPage(
  db: Database,
  { accountId }: Caller,
  { walk, after, limit, webhookId, status, type, from, to }: PageRequest,
) {
  const range = and(
    from === undefined ? undefined : sql`d.id >= ${firstIdAt(from)}`,
    to === undefined ? undefined : sql`d.id < ${firstIdAt(to)}`,
  );
  const filters = and(
    walk.filter,
    status === undefined || status === walk.status ? undefined : sql`d.status = ${status}`,
    type === undefined ? undefined : sql`d.level ${sql.raw(type === EVENT ? '=' : '>')} ${EVENT_LEVEL}`,
    walk.byTime ? undefined : range,
  );
  const where = and(
    sql`w.account_id = ${accountId}`,
    webhookId === undefined ? undefined : sql`w.id = ${webhookId}`,
    after,
    walk.byTime ? range : undefined,
  );
  const source = sql`webhooks w indexed by webhooks_by_id cross join ${walk.deliveries} where ${where}`;
  const inOrder = sql`order by w.id, ${walk.order}`;
  const hit = filters ?? sql`true`;
  const columns = sql`d.webhook_id as webhookId, d.id, d.event_id as eventId, d.level, d.status, d.attempts,
    d.next_attempt_at as nextAttemptAt, json_array(w.id, ${walk.order}) as at, ${hit} as hit,
    iif(${hit}, json_remove(d.log -> '$[#-1]', '$.answer'), null) as last`;
  if (!filters)
    return statement<Row>(db, sql`select ${columns}, 0 as nth from ${source} ${inOrder} limit ${limit + 1}`);
  return statement<Row>(
    db,
    sql`select * from (
          select ${columns}, row_number() over (${inOrder} rows unbounded preceding) as nth
          from ${source} ${inOrder} limit ${maxScanned})
        where hit or nth = ${maxScanned} limit ${limit + 1}`,
  );
}

const placeOf = (row: Row | undefined): CursorKeys | undefined => row && JSON.parse(row.at); // as `selectPage` made it

function present({
  id,
  webhookId,
  eventId,
  level,
  status,
  attempts,
  nextAttemptAt,
  last,
}: Row): DeliverySummary {
  return {
    id,
    webhookId,
    eventId,
    type: typeOfLevel(level),
    level: accidentLevels.find((known) => known === level) ?? null,
    status,
    attempts,
    nextAttemptAt: status === 'pending' ? timestamp(nextAttemptAt) : null,
    createdAt: timestamp(createdAtOf(id)),
    lastAnswer: last === null ? null : answerOf(JSON.parse(last)),
  };
}

const answerOf = ({ status, result, at }: Attempt): DeliverySummary['lastAnswer'] => ({
  status: status ?? null,
  kind: result,
  at: timestamp(at),
});
