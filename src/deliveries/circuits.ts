import { sql } from 'drizzle-orm';
import { statement } from '../db/database.ts';
import { asCaller, type Caller } from '../db/guard.ts';

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
