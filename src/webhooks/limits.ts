import { and, eq, sql } from 'drizzle-orm';
import { note } from '../accounts/audit/note.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { webhooks } from '../platform/db/tables.ts';
import { invalid } from '../platform/errors.ts';
import { webhookToNote } from './to-note.ts';

/** What an operator can allow a webhook's receiver; null for as much as the service does. */
export type ReceiverLimits = { maxInFlight: number | null; maxPerSecond: number | null };

/**
 * Limits what the receiver of one of the account's webhooks gets. A limit that is left out stays as it is. Only
 * operators change limits: saving the webhook leaves them as they are.
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
