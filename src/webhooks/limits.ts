import { and, eq, sql } from 'drizzle-orm';
import { note } from '../accounts/audit/note.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { webhooks } from '../platform/db/tables.ts';
import { invalid } from '../platform/errors.ts';
import { webhookToNote } from './to-note.ts';

/** An operator's limits for a webhook's receiver; null for the service's own. */
export type ReceiverLimits = { maxInFlight: number | null; maxPerSecond: number | null };

/**
 * Limits the calls to the receiver of one of the account's webhooks. A missing limit stays unchanged, and saving the
 * webhook changes none.
 *
 * @throws Refusal: invalid, for an unknown id
 */
export async function setReceiverLimits(
  env: Env,
  caller: Caller,
  id: string,
  { maxInFlight, maxPerSecond }: { [limit in keyof ReceiverLimits]?: ReceiverLimits[limit] | undefined },
): Promise<void> {
  const [changed] = await asCaller(env, caller, (db) => [
    db
      .update(webhooks)
      .set({
        maxInFlight: maxInFlight === undefined ? sql`${webhooks.maxInFlight}` : maxInFlight,
        maxPerSecond: maxPerSecond === undefined ? sql`${webhooks.maxPerSecond}` : maxPerSecond,
      })
      .where(and(eq(webhooks.id, id), eq(webhooks.accountId, caller.accountId)))
      .returning({ id: webhooks.id }),
    note(db, caller, {
      action: 'changed',
      subject: 'webhook',
      of: webhookToNote(caller, id),
      fields: Object.entries({ maxInFlight, maxPerSecond }).flatMap(([name, value]) =>
        value === undefined ? [] : [name],
      ),
    }),
  ]);
  if (changed.length === 0) throw invalid('Unknown webhook');
}
