import { unseal } from '../platform/crypto.ts';
import { asCaller, type Caller, rowsFor } from '../platform/db/guard.ts';
import { type FormResult, type SentForm, showResult } from '../platform/db/sent-forms.ts';

/** The request that a form took effect by, when that began, and its result as far as known. */
export async function findSentForm(
  env: Env,
  caller: Caller,
  { id }: SentForm,
): Promise<(FormResult & { run: string; at: number }) | undefined> {
  const [row] = await rowsFor<{ run: string; result: string | null; at: number }>(env, caller)`
    select run, result, at from sent_forms where account_id = ${caller.accountId} and id = ${id}`;
  return row && { ...row, ...(await openResult(env, id, row.result)) };
}

/** The secret of a form that took effect, until a minute after it was first asked for. */
export async function takeShown(env: Env, caller: Caller, id: string): Promise<string | undefined> {
  const [row] = await asCaller(env, caller, (db) => showResult(db, caller.accountId, id, Date.now()));
  return row && (await openResult(env, id, row.result)).shown;
}

/** What a row has of a form's result; nothing if it was encrypted with a key that is gone. */
async function openResult(env: Env, id: string, sealed: string | null): Promise<FormResult> {
  if (sealed === null) return {};
  const opened = unseal(env, id, sealed);
  const { text = '{}' } = await opened.catch(() => ({ text: '{}' }));
  return JSON.parse(text); // as it was sealed
}
