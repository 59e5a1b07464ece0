import { and, eq, sql } from 'drizzle-orm';
import { following, type Slice, type SliceQuery, sliceOf } from '../../core/platform/db/cursor.ts';
import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { connections } from '../../core/platform/db/schema/accounts.ts';
import { webhookConnections, webhooks } from '../../core/platform/db/schema/webhooks.ts';
import {
  opened,
  ownWebhook,
  type StoredWebhook,
  selectWebhooks,
} from '../../core/webhooks/stored.ts';

/** A webhook in the list; of its connections, two stand for more. */
export type ListedWebhook = {
  id: string;
  createdAt: number;
  name: string | null;
  url: string;
  /** In milliseconds since 1970; null if it is not paused. */
  pausedAt: number | null;
  connections: number;
};

/** A slice of the account's webhooks, oldest first. */
export async function sliceWebhooks(
  env: Env,
  caller: Caller,
  slice: SliceQuery,
): Promise<Slice<ListedWebhook>> {
  const { id, createdAt, name, url, pausedAt } = webhooks;
  const rows = await asCaller(env, caller, (db) =>
    db
      .select({
        ...{ id, createdAt, name, url, pausedAt },
        connections: sql<number>`(select count(*) from (
          select 1 from webhook_connections where webhook_id = ${id} limit 2))`.as('connections'),
      })
      .from(webhooks)
      .where(and(eq(webhooks.accountId, caller.accountId), following(webhooks, slice)))
      .orderBy(createdAt, id)
      .limit(slice.limit + 1),
  );
  return sliceOf(rows, slice);
}

const namedConnections = 6;

/** A webhook with the names of its first connections; more than five means that there are more. */
export type NamedWebhook = StoredWebhook & { connections: string[] };

/** The account's webhook, with the names, in one round trip. */
export async function findNamed(
  env: Env,
  caller: Caller,
  webhookId: string,
): Promise<NamedWebhook | undefined> {
  const { found, names } = await asCaller(env, caller, (db) => ({
    found: selectWebhooks(db, ownWebhook(caller, webhookId)),
    names: db
      .select({ name: sql<string>`coalesce(${connections.name}, ${connections.tsp})` })
      .from(webhookConnections)
      .crossJoin(connections)
      .where(
        and(
          eq(connections.id, webhookConnections.connectionId),
          eq(webhookConnections.webhookId, webhookId),
          eq(connections.accountId, caller.accountId),
        ),
      )
      .limit(namedConnections),
  }));
  const [row] = found;
  return row && { ...(await opened(env, row)), connections: names.map(({ name }) => name) };
}
