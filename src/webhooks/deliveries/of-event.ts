import { sql } from 'drizzle-orm';
import { statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';
import { createdAtOf } from '../../platform/db/ids.ts';
import type { Delivery } from './queries.ts';
import { ofEvent } from './read-orders.ts';
import type { Attempt } from './record.ts';

/** A delivery of an event or accident, with its receiver. Times are milliseconds since 1970. */
export type Told = Pick<
  Delivery,
  'id' | 'webhookId' | 'level' | 'status' | 'attempts' | 'nextAttemptAt' | 'finishedAt'
> & {
  /** What the webhook's people call it, and its address. */
  name: string | null;
  url: string;
  /** Until when its receiver is not called; null if it is. */
  pausedUntil: number | null;
  createdAt: number;
  /** The latest attempt, without what the receiver wrote. */
  last?: Attempt;
};

/** How many deliveries of an event are returned at most. */
export const maxTold = 300;

/** How many deliveries are looked at to find them: those that were made in the same millisecond. */
const maxLookedAt = 5000;

type Row = Omit<Told, 'createdAt' | 'last'> & { last: string | null; hit: number; nth: number };

/**
 * The deliveries of an event or accident that is still retained, by level, and whether these are all. Reads a row for
 * each webhook and level, and besides those of other events that came in with this one.
 */
export async function deliveriesOf(
  env: Env,
  caller: Caller,
  eventId: string,
): Promise<{ deliveries: Told[]; complete: boolean }> {
  const { deliveries, order, filter } = ofEvent(caller.accountId, eventId);
  const [rows] = await asCaller(
    env,
    caller,
    (db) => [
      statement<Row>(
        db,
        sql`select * from (
            select d.id, w.id as webhookId, w.name, w.url, d.level, d.status, d.attempts,
              d.next_attempt_at as nextAttemptAt, d.finished_at as finishedAt, ${filter} as hit,
              json_remove(d.log -> '$[#-1]', '$.answer') as last,
              (select open_until from webhook_health h where h.webhook_id = w.id and open_until > ${Date.now()})
                as pausedUntil,
              row_number() over (order by w.id, ${order} rows unbounded preceding) as nth
            from webhooks w indexed by webhooks_by_id cross join ${deliveries}
            where w.account_id = ${caller.accountId} order by w.id, ${order} limit ${maxLookedAt})
          where hit or nth = ${maxLookedAt} limit ${maxTold + 1}`,
      ),
    ],
    { repeatable: true },
  );
  const found = rows.filter(({ hit }) => hit);
  return {
    deliveries: found
      .slice(0, maxTold)
      .map(asTold)
      .sort((a, b) => a.level - b.level || (a.url < b.url ? -1 : 1)),
    complete: found.length <= maxTold && rows.every(({ nth }) => nth < maxLookedAt),
  };
}

const asTold = ({ hit: _, nth: __, last, ...row }: Row): Told => ({
  ...row,
  createdAt: createdAtOf(row.id),
  ...(last !== null && { last: JSON.parse(last) }),
});
