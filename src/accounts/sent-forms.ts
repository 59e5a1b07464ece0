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
