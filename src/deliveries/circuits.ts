import { sql } from 'drizzle-orm';
import { jsonList, statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';

/** The circuit of a webhook's receiver: attempts that failed in a row, and until when it is open (milliseconds). */
export type Circuit = { failures: number; openUntil: number };

/** The account's webhooks with the circuits of their receivers, without headers. */
export async function listCircuits(env: Env, caller: Caller) {
  const [rows] = await asCaller(
    env,
    caller,
    (db) => [
      statement<{ id: string; url: string; failures: number; openUntil: number | null }>(
        db,
        sql`
        select w.id, w.url, coalesce(h.failures, 0) as failures,
          iif(h.open_until > ${Date.now()}, h.open_until, null) as openUntil
        from webhooks w left join webhook_health h on h.webhook_id = w.id
        where w.account_id = ${caller.accountId} order by w.created_at, w.id`,
      ),
    ],
    { repeatable: true },
  );
  return rows;
}

/** The circuits of some of the account's webhooks. One that never failed is not in the result. */
export async function circuitsOf(
  env: Env,
  caller: Caller,
  webhookIds: string[],
): Promise<Map<string, Circuit>> {
  const [rows] = await asCaller(
    env,
    caller,
    (db) => [
      statement<Circuit & { id: string }>(
        db,
        sql`
        select h.webhook_id as id, h.failures, h.open_until as openUntil
        from webhook_health h join webhooks w on w.id = h.webhook_id and w.account_id = ${caller.accountId}
        where h.webhook_id in ${jsonList(webhookIds)}`,
      ),
    ],
    { repeatable: true },
  );
  return new Map(rows.map(({ id, ...circuit }) => [id, circuit]));
}
