import { validate as isUuid } from 'uuid';
import { config } from '../platform/config.ts';
import { type Sealed, unseal } from '../platform/crypto.ts';
import { change, openDatabase, statement } from '../platform/db/database.ts';
import { send } from '../platform/queue.ts';
import { connectorOf } from './registry.ts';

/** The shortest time between two pulls triggered by webhooks. */
export const quietMs = 2_000;

/**
 * Handles a call of a provider's webhook: makes the connection's pull due if the provider has signed the call, whose
 * content is ignored. Returns whether it was signed for this connection.
 */
export async function ring(
  env: Env,
  connectionId: string,
  headers: Headers,
  body: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (!isUuid(connectionId)) return false;
  const db = openDatabase(env);
  const [found] = await statement<{ provider: string; secret: string | null; dueAt: number | null }>(db)`
    select c.provider, p.webhook_secret as secret, p.due_at as dueAt
    from pulls p join connections c on c.id = p.connection_id where p.connection_id = ${connectionId}`;
  const webhook = found && connectorOf(found.provider)?.webhook;
  if (!webhook || found.secret === null) return false;
  const { secret = '' } = await unseal(
    config(env).headerKeys,
    connectionId,
    JSON.parse(found.secret) as Sealed, // as it was written
  );
  if (!(await webhook.isSigned(headers, body, secret))) return false;
  const now = Date.now();
  if (found.dueAt === null || (found.dueAt > now - quietMs && found.dueAt <= now)) return true;
  await change(db)`
    update pulls set due_at = ${now} where connection_id = ${connectionId} and due_at is not null`;
  await send(env.DELIVERIES, [{ pull: [connectionId] }]);
  return true;
}
