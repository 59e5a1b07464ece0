import { and, eq, inArray, type SQLWrapper } from 'drizzle-orm';
import { following, type SliceQuery } from '../../core/platform/db/cursor.ts';
import type { Database } from '../../core/platform/db/database.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { webhooks } from '../../core/platform/db/schema/webhooks.ts';
import { shownHours } from '../../core/webhooks/deliveries/counts.ts';
import { h, w } from '../../core/webhooks/deliveries/receiver/store.ts';
import { waitingOf } from './activity.ts';
import { type HourTally, inHours, selectHours } from './hours.ts';
import { type Receiver, receiverColumns } from './receivers.ts';
import { type ReceiverResponse, responsesIn, selectTimes } from './times.ts';

export const maxCountedInList = 100;

/** A webhook's last 24 hours, oldest first, and responses to its last deliveries. */
export type WebhookSummary = {
  id: string;
  waiting: number;
  receiver: Receiver;
  hours: HourTally[];
  responses: ReceiverResponse[];
};

const selectListed = (db: Database, webhookIds: SQLWrapper, now: number) =>
  db
    .select({
      ...receiverColumns(now),
      waiting: waitingOf(maxCountedInList).as('waiting'),
    })
    .from(w)
    .leftJoin(h, eq(h.webhookId, w.id))
    .where(inArray(w.id, webhookIds))
    .orderBy(w.createdAt, w.id);

/** Those of a slice of the account's webhooks, oldest first, in one round trip: some 130 rows for each, and 2,000. */
export async function readSummaries(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<WebhookSummary[]> {
  const now = Date.now();
  const { found, hours, times } = await asCaller(env, caller, (db) => {
    const which = db
      .select({ id: webhooks.id })
      .from(webhooks)
      .where(and(eq(webhooks.accountId, caller.accountId), following(webhooks, slice)))
      .orderBy(webhooks.createdAt, webhooks.id)
      .limit(slice.limit);
    return {
      found: selectListed(db, which, now),
      hours: selectHours(db, which, shownHours, now),
      times: selectTimes(db, which),
    };
  });
  const byWebhook = Map.groupBy(hours, ({ webhookId }) => webhookId);
  const timesOf = Map.groupBy(times, ({ webhookId }) => webhookId);
  return found.map((row) => ({
    ...row,
    receiver: row,
    hours: inHours(byWebhook.get(row.id) ?? [], shownHours, now),
    responses: responsesIn(timesOf.get(row.id) ?? []),
  }));
}
