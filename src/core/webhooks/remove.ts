import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { Database } from '../platform/db/database.ts';
import { webhookConnections, webhooks } from '../platform/db/schema/webhooks.ts';

/** The statements that stop all webhooks of an account, so that nothing of them is claimed, and list them. */
export const stopWebhooks = (db: Database, accountId: string, now: number) => ({
  stopped: db
    .update(webhooks)
    .set({ stoppedAt: sql`coalesce(${webhooks.stoppedAt}, ${now})` })
    .where(eq(webhooks.accountId, accountId)),
  webhooks: db.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.accountId, accountId)),
});

/** The statement that starts them again, if `condition` holds. */
export const resumeWebhooks = (db: Database, accountId: string, condition?: SQL) =>
  db
    .update(webhooks)
    .set({ stoppedAt: null })
    .where(and(eq(webhooks.accountId, accountId), condition));

/** The statements that end all subscriptions to a connection, and list the webhooks that had one. */
export function unsubscribeAll(db: Database, connectionId: string) {
  const { webhookId: id } = webhookConnections;
  const ofIt = eq(webhookConnections.connectionId, connectionId);
  return {
    webhooks: db.select({ id }).from(webhookConnections).where(ofIt),
    unsubscribed: db.delete(webhookConnections).where(ofIt),
  };
}
