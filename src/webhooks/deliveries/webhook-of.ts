import { sql } from 'drizzle-orm';
import { statement } from '../../platform/db/database.ts';
import { asCaller, type Caller } from '../../platform/db/guard.ts';

/**
 * The webhook of the account that a delivery is for, found by its Delivery-Id alone: one seek for each webhook, of which
 * an account has 1,000 at most.
 *
 * @throws Refusal: unauthenticated, forbidden
 */
export async function webhookOfDelivery(env: Env, caller: Caller, id: string): Promise<string | undefined> {
  const [[found]] = await asCaller(
    env,
    caller,
    (db) =>
      [
        statement<{ webhookId: string }>(
          db,
          sql`select d.webhook_id as "webhookId" from webhooks w
            cross join deliveries d on d.webhook_id = w.id and d.id = ${id}
            where w.account_id = ${caller.accountId} and d.account_id = ${caller.accountId} limit 1`,
        ),
      ] as const,
    { repeatable: true },
  );
  return found?.webhookId;
}
