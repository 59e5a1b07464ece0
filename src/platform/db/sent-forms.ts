import { seal } from '../crypto.ts';
import { minuteMs } from '../durations.ts';
import { type Database, refuse, type Write, write, writeReturning } from './database.ts';

/** A form that was sent, the request that handles it, and what is known of its result. */
export type SentForm = { id: string; run: string; result: FormResult };

/** Where a form led, what it said there, and a secret that is shown there once. */
export type FormResult = { to?: string; flash?: object | undefined; shown?: string | undefined };

/** By which a form takes effect once: the same form rolls back. */
export async function claimForm(
  env: Env,
  db: Database,
  accountId: string,
  form: SentForm,
  result?: FormResult,
): Promise<[Write]> {
  form.result = { ...form.result, ...result };
  const text = JSON.stringify(form.result);
  const sealed = result && JSON.stringify(await seal(env, form.id, { text }));
  const claim = write(db)`
    insert into sent_forms (account_id, id, run, result, at)
    values (${accountId}, ${form.id}, ${form.run}, ${sealed ?? null}, ${Date.now()})
    on conflict do update set result = excluded.result
    where case when run <> excluded.run then ${refuse({ kind: 'unavailable', retryAfter: 1 })} else excluded.result is not null end`;
  return [claim]; // by itself it would run, because it can be awaited
}

/** How long a secret can be shown for the first time, and how long from then on. */
const unseenMs = 10 * minuteMs;
const seenMs = minuteMs;

/** The statement that returns a form's result while it can be shown, and records when that was first. */
export const showResult = (db: Database, accountId: string, id: string, now: number) =>
  writeReturning<{ result: string | null }>(db)`
    update sent_forms set shown_at = coalesce(shown_at, ${now})
    where account_id = ${accountId} and id = ${id}
      and coalesce(shown_at > ${now - seenMs}, at > ${now - unseenMs})
    returning result`;
