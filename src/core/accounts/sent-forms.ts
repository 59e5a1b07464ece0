import { and, eq, ne, sql } from 'drizzle-orm';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { sentForms } from '../platform/db/schema/accounts.ts';

/** Whether another request with the caller's form has taken effect, within the last hour. */
export async function wasSent(env: Env, caller: Caller): Promise<boolean> {
  const { accountId, form } = caller;
  if (!form) return false;
  const which = and(
    eq(sentForms.accountId, accountId),
    eq(sentForms.id, form.key),
    ne(sentForms.requestId, form.requestId),
  );
  const sent = await asCaller(env, caller, (db) =>
    db.select({ found: sql`1` }).from(sentForms).where(which),
  );
  return sent.length > 0;
}
