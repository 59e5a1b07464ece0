import { sql } from 'drizzle-orm';
import { statement } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { createdAtOf } from '../platform/db/ids.ts';
import { cutScan, type Scanned, scan } from '../platform/db/pages.ts';
import { ofEvent } from './deliveries/list.ts';
import { type Delivery, dueAt, lastAttempt } from './deliveries/queries.ts';
import type { Attempt } from './deliveries/record.ts';
import { notificationOf } from './notifications/of-delivery.ts';

/** A delivery of an event or accident, with its receiver. Times are milliseconds since 1970. */
export type DeliveryOfEvent = Pick<
  Delivery,
  'id' | 'webhookId' | 'level' | 'status' | 'attempts' | 'nextAttemptAt' | 'finishedAt'
> & {
  /** The webhook's name and address. */
  name: string | null;
  url: string;
  /** Until when its receiver's circuit is open, and when its account paused the webhook; null if not. */
  openUntil: number | null;
  pausedAt: number | null;
  createdAt: number;
  /** The latest attempt, without the text of the response. */
  last?: Attempt;
};

export const maxOfEvent = 300;

/** How many deliveries of the same millisecond are scanned to find them. */
const maxLookedAt = 5000;

type ScannedDelivery = Scanned &
  Omit<DeliveryOfEvent, 'createdAt' | 'last'> & { last: string | null; recipients: string | null };

/**
 * The deliveries of a retained event or accident by level, whether these are all, and the event's recipients. Reads a
 * row for each webhook and level, and those of other events of the same call.
 */
export async function deliveriesOf(
  env: Env,
  caller: Caller,
  eventId: string,
): Promise<{ deliveries: DeliveryOfEvent[]; complete: boolean; recipients: string[] }> {
  const { deliveries, columns, filter } = ofEvent(caller.accountId, eventId);
  const [rows] = await asCaller(env, caller, (db) => [
    statement<ScannedDelivery>(db)`${scan({
      columns: sql`d.id, w.id as webhookId, w.name, w.url, d.level, d.status, d.attempts,
            ${dueAt} as nextAttemptAt, d.finished_at as finishedAt, ${lastAttempt} as last,
            w.paused_at as pausedAt,
            (select data->'recipients' from ${notificationOf()}) as recipients,
            (select open_until from webhook_health h where h.webhook_id = w.id and open_until > ${Date.now()})
              as openUntil`,
      source: sql`webhooks w indexed by webhooks_by_id cross join ${deliveries}
            where w.account_id = ${caller.accountId}`,
      order: sql`order by w.id, ${columns}`,
      passes: filter,
      limit: maxOfEvent,
      most: maxLookedAt,
    })}`,
  ]);
  const { page, end } = cutScan(rows, maxOfEvent, maxLookedAt);
  return {
    deliveries: page.map(asOfEvent).sort((a, b) => a.level - b.level || (a.url < b.url ? -1 : 1)),
    complete: !end,
    recipients: JSON.parse(page[0]?.recipients ?? '[]'),
  };
}

const asOfEvent = ({ hit: _, nth: __, recipients: ___, last, ...row }: ScannedDelivery): DeliveryOfEvent => ({
  ...row,
  createdAt: createdAtOf(row.id),
  ...(last !== null && { last: JSON.parse(last) }),
});
