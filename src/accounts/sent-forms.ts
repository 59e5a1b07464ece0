import { sql } from 'drizzle-orm';
import { type Database, refuseUnless, write } from '../platform/db/database.ts';
import { type Caller, rowsFor } from '../platform/db/guard.ts';

/** Whether another request with the caller's form has taken effect, within the last hour. */
export async function wasSent(env: Env, caller: Caller): Promise<boolean> {
  const { accountId, form } = caller;
  if (!form) return false;
  const sent = await rowsFor(env, caller)`
    select 1 from sent_forms
    where account_id = ${accountId} and id = ${form.key} and request_id <> ${form.requestId}`;
  return sent.length > 0;
}

/** The statements by which what is valid for less than an hour is used once. A second use is refused. */
export const useOnce = (db: Database, accountId: string, id: string, refusal: string) =>
  [
    refuseUnless(
      db,
      sql`not exists (select 1 from sent_forms where account_id = ${accountId} and id = ${id})`,
      refusal,
    ),
    write(db)`
      insert into sent_forms (account_id, id, request_id, at)
      values (${accountId}, ${id}, '', ${Date.now()})`,
  ] as const;
