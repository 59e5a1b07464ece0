import { and, eq, ne, sql } from 'drizzle-orm';
import { asCaller, type Caller } from '../core/platform/db/guard.ts';
import type { SentForm } from './sent-forms.ts';
import { sentForms } from './tables.ts';

/** Whether another request with a form of the caller has taken effect, within the last hour. */
export async function wasSent(env: Env, caller: Caller, form: SentForm): Promise<boolean> {
  const { accountId } = caller;
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
