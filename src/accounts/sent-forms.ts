import { read } from '../platform/db/database.ts';
import { asCaller, type Caller } from '../platform/db/guard.ts';
import { type FormResult, openResult, type SentForm, showResult } from '../platform/db/sent-forms.ts';
import { minuteMs } from '../platform/durations.ts';

/** How long a secret can be shown for the first time, and how long from then on. */
const unseenMs = 10 * minuteMs;
const seenMs = minuteMs;

/** The request that a form took effect by, when that began (milliseconds since 1970), and what is known of its result. */
export async function findSentForm(
  env: Env,
  caller: Caller,
  { id }: SentForm,
): Promise<(FormResult & { run: string; at: number }) | undefined> {
  const [[row]] = await asCaller(env, caller, (db) => [
    read<{ run: string; result: string | null; at: number }>(db)`
      select run, result, at from sent_forms where account_id = ${caller.accountId} and id = ${id}`,
  ]);
  return row && { ...row, ...(await openResult(env, id, row.result)) };
}

/** The secret of a form that took effect, until a minute after it was first asked for. */
export async function takeShown(env: Env, caller: Caller, id: string): Promise<string | undefined> {
  const now = Date.now();
  const [[row]] = await asCaller(env, caller, (db) => [
    showResult(db, caller.accountId, id, { now, seenAfter: now - seenMs, sentAfter: now - unseenMs }),
  ]);
  return row && (await openResult(env, id, row.result)).shown;
}
