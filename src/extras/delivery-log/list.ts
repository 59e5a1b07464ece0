import { sql } from 'drizzle-orm';
import {
  type CursorKeys,
  decodeCursor,
  encodeCursor,
  invalidCursor,
} from '../../core/platform/db/cursor.ts';
import { refuseUnless } from '../../core/platform/db/database.ts';
import type { Caller } from '../../core/platform/db/guard.ts';
import { cutScan } from '../../core/platform/db/pages.ts';
import { bookmarkOf, continueFrom, readAsCaller } from '../../core/platform/db/reads.ts';
import { invalidField } from '../../core/platform/errors.ts';
import { parseQuery, timestamp } from '../../core/platform/fields.ts';
import { rangeOf } from '../../core/platform/query.ts';
import type { Attempt } from '../../core/webhooks/deliveries/policy.ts';
import { accidentLevels } from '../../core/webhooks/notifications/types.ts';
import type { Delivery, More } from './find.ts';
import { ownWebhookId } from './replayable.ts';
import { type DeliveryDetails, DeliveryListQuery, type DeliverySummary } from './schema.ts';
import { asListed, type ListedDelivery, selectDeliveries } from './select.ts';

/**
 * Reads a page of deliveries, webhook by webhook; short if too few of `maxScanned` pass its filters.
 * @throws Refusal: invalid, naming the parameter; unauthenticated; forbidden
 */
export async function readDeliveries(
  env: Env,
  caller: Caller,
  query: Record<string, string[]>,
): Promise<{ items: DeliverySummary[]; next?: string }> {
  const { limit, cursor, from, to, ...filters } = parseQuery(DeliveryListQuery, query);
  const { webhookId, eventId, status, type, order } = filters;
  const newestFirst = order === 'newest';
  if (newestFirst && !webhookId) throw invalidField('order', needsWebhook);
  if (newestFirst && status === 'pending') throw invalidField('order', isAsDue);
  const range = rangeOf(from, to);
  const identity = JSON.stringify(['/deliveries', caller.accountId, range, filters]);
  const position = cursor === undefined ? undefined : decodeCursor(cursor, identity);
  if (cursor !== undefined && !position) throw invalidCursor();
  continueFrom(env, caller, cursor);
  const isKnown = sql`${webhookId && ownWebhookId(caller, webhookId)} is not null`;
  const { rows } = await readAsCaller(env, caller, (db) => ({
    known: webhookId === undefined ? undefined : refuseUnless(db, isKnown, 'Invalid webhook id'),
    rows: selectDeliveries(db, caller, {
      ...{ webhookId, state: status, type, place: position, limit, newestFirst, ...range },
      events: eventId === undefined ? undefined : sql`(${eventId})`,
    }),
  }));
  const { page, end } = cutScan(rows, limit);
  const next: CursorKeys | undefined = end && JSON.parse(end.at); // as `selectDeliveries` made it
  return {
    items: page.map((row) => summaryOf(asListed(row))),
    ...(next && { next: encodeCursor(next, identity, bookmarkOf(env, caller)) }),
  };
}

/** The index has the deliveries of each webhook in their order, but not those of several. */
export const needsWebhook = 'can be newest only with webhookId';
export const isAsDue =
  'cannot be newest with status=pending, which is in the order in which they will be tried';

/** A delivery as clients list it. */
export const summaryOf = (delivery: ListedDelivery): DeliverySummary => {
  const { id, webhookId, eventId, type, status, attempts, nextAttemptAt, createdAt, last } =
    delivery;
  return {
    ...{ id, webhookId, eventId, type },
    level: accidentLevels.find((known) => known === delivery.level) ?? null,
    ...{ status, attempts },
    nextAttemptAt: nextAttemptAt === null ? null : timestamp(nextAttemptAt),
    createdAt: timestamp(createdAt),
    lastAnswer: last && answerOf(last),
  };
};

/** A delivery with its payload and attempts. */
export const detailsOf = (delivery: Delivery & Pick<More, 'payload'>): DeliveryDetails => ({
  ...summaryOf(delivery),
  payload: delivery.payload,
  attemptLog: delivery.log.map((attempt) => ({
    ...answerOf(attempt),
    durationMs: attempt.durationMs,
    ...('answer' in attempt && { answer: attempt.answer }),
  })),
  attemptsOmitted: delivery.attemptsOmitted,
});

const answerOf = ({ status, result, at, reason }: Attempt) => ({
  status: status ?? null,
  kind: result,
  at: timestamp(at),
  ...(reason !== undefined && { reason }),
});
