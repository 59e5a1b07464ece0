import { and, eq } from 'drizzle-orm';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { webhookHealth, webhooks } from '../platform/db/schema/webhooks.ts';
import { timestamp } from '../platform/fields.ts';
import type { WebhookState } from './schema.ts';
import { isOwned } from './stored.ts';

/** The state of each of the caller's webhooks, or of one, by its id. */
export async function readStates(
  env: Env,
  caller: Caller,
  id?: string,
): Promise<Map<string, WebhookState>> {
  const rows = await asCaller(env, caller, (db) =>
    db
      .select({
        id: webhooks.id,
        pausedAt: webhooks.pausedAt,
        openUntil: webhookHealth.openUntil,
        failures: webhookHealth.failures,
      })
      .from(webhooks)
      .leftJoin(webhookHealth, eq(webhookHealth.webhookId, webhooks.id))
      .where(and(isOwned(caller), id === undefined ? undefined : eq(webhooks.id, id))),
  );
  return new Map(rows.map((row) => [row.id, stateOf(row)]));
}

type Receiver = { pausedAt: number | null; openUntil: number | null; failures: number | null };

/** What a receiver is to its customers. A pause comes first: nothing is tried meanwhile. */
function stateOf({ pausedAt, openUntil, failures }: Receiver, now = Date.now()): WebhookState {
  const isWaiting = pausedAt === null && openUntil !== null && openUntil > now;
  return {
    status: pausedAt !== null ? 'paused' : isWaiting ? 'waiting' : 'active',
    failures: failures ?? 0,
    nextAttemptAt: isWaiting ? timestamp(openUntil) : null,
  };
}
