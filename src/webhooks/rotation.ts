import { and, eq, sql } from 'drizzle-orm';
import { config } from '../platform/config.ts';
import { seal, unseal } from '../platform/crypto.ts';
import { openDatabase } from '../platform/db/database.ts';
import { webhooks } from '../platform/db/tables.ts';

const perHour = 500;

/**
 * Re-encrypts headers that were sealed with an older key than the newest, 500 webhooks each hour, so that the old key
 * can be removed from HEADER_KEYS in the end. Returns how many.
 */
export async function resealHeaders(env: Env): Promise<number> {
  const db = openDatabase(env);
  const { headerKeys } = config(env);
  const old = await db
    .select({ id: webhooks.id, headers: webhooks.headers })
    .from(webhooks)
    .where(sql`${webhooks.headers}->>'key' <> ${headerKeys[0]?.id}`)
    .limit(perHour);
  for (const { id, headers } of old) {
    const fresh = await seal(headerKeys, id, await unseal(headerKeys, id, headers));
    // Only if nobody has changed them meanwhile.
    await db
      .update(webhooks)
      .set({ headers: fresh })
      .where(and(eq(webhooks.id, id), sql`${webhooks.headers}->>'iv' = ${headers.iv}`));
  }
  return old.length;
}
