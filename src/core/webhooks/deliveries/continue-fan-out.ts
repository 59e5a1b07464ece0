import { and, eq, lt, sql } from 'drizzle-orm';
import { type Database, transaction } from '../../platform/db/database.ts';
import { ofActiveAccount } from '../../platform/db/guard.ts';
import { afterAllIds, firstIdAt } from '../../platform/db/ids.ts';
import { fanOuts } from '../../platform/db/schema/webhooks.ts';
import { openDatabase } from '../../platform/db/system.ts';
import { largeTransactions } from '../../platform/fair-queue.ts';
import { isLeft, newBudget, within } from '../../platform/jobs/budget.ts';
import { send } from '../../platform/queue.ts';
import { subscribersOf } from '../notifications/insert.ts';
import { ACCIDENT } from '../notifications/types.ts';
import { idsOf, insertDeliveries, selectIdle, webhooksIn } from './fan-out.ts';
import { claimsForMs } from './policy.ts';
import { type FanOut, wakeOf } from './queue.ts';
import { holdLevels } from './send/accident-order.ts';

/** The most deliveries that a transaction creates after that of the ingest call. */
const maxInNext = 500;

/** How long a fan-out waits when too many of the account's large transactions do. */
const tooManyWaitMs = 500;

/** Continues a fan-out in small transactions, which advance its mark: repeats create nothing twice. */
export async function continueFanOut(env: Env, message: FanOut): Promise<void> {
  const budget = newBudget({ ms: claimsForMs });
  const db = openDatabase(within(env, budget));
  const { fanOut: id } = message;
  const [row] = await transaction(db, selectFanOut(db, id));
  for (let more = true; row && more; ) {
    if (!isLeft(budget)) return void (await send(env.DELIVERIES, [message]));
    const step = await largeTransactions.run(row.accountId, () => expandNext(env, db, id, row));
    if (step) more = step.result;
    else await scheduler.wait(tooManyWaitMs);
  }
}

function selectFanOut(db: Database, id: string) {
  const { accountId, connectionId, type, createdAt } = fanOuts;
  const notifications = sql<number>`json_array_length(${fanOuts.notifications})`;
  return db
    .select({ accountId, connectionId, type, createdAt, notifications })
    .from(fanOuts)
    .where(and(isActive(id), lt(fanOuts.expandedTo, afterAllIds)));
}

const isActive = (id: string) =>
  and(eq(fanOuts.id, id), ofActiveAccount(sql`${fanOuts.accountId}`));

type FanOutRow = Awaited<ReturnType<typeof selectFanOut>>[number];

/** Serves the webhooks after the fan-out's mark. Returns whether there may be more. */
async function expandNext(env: Env, db: Database, id: string, row: FanOutRow): Promise<boolean> {
  const { accountId, connectionId, type, notifications, createdAt } = row;
  const now = Date.now();
  const source = { accountId, connectionId, now, requestId: '' };
  // Webhooks that were created later are not notified of what came before.
  const subscribers = sql`
    ${subscribersOf(connectionId, type)} and webhook_id < ${firstIdAt(createdAt + 1)}`;
  const count = webhooksIn(maxInNext, notifications);
  const mark = sql`(select expanded_to from ${fanOuts} where ${isActive(id)})`;
  const next = sql`(
    select webhook_id, filtered from webhook_connections
    where ${subscribers} and webhook_id > ${mark} order by webhook_id limit ${count})`;
  const keys = sql`(
    select n.key, n.value
    from json_each((select notifications from fan_outs where id = ${id})) n)`;
  const { idle, moved } = await transaction(db, {
    idle: selectIdle(db, source, type, next, keys, sql`1`),
    deliveries: insertDeliveries(db, source, createdAt, keys, next),
    held: type === ACCIDENT ? holdLevels(db, keys, next, createdAt, now) : undefined,
    moved: db
      .update(fanOuts)
      .set({ expandedTo: sql`coalesce((select max(webhook_id) from ${next}), ${afterAllIds})` })
      .where(isActive(id))
      .returning({ mark: fanOuts.expandedTo }),
    deleted: db.delete(fanOuts).where(and(eq(fanOuts.id, id), eq(fanOuts.expandedTo, afterAllIds))),
  });
  await send(env.DELIVERIES, wakeOf(accountId, idsOf(idle), type));
  return moved.some(({ mark }) => mark < afterAllIds);
}
