import { sql } from 'drizzle-orm';
import { type Database, transaction } from '../../../platform/db/database.ts';
import { openDatabase } from '../../../platform/db/system.ts';
import { firstDueOf } from '../due.ts';
import { sendAfter, type Wake } from '../queue.ts';
import { isOpen, withTimer } from './next.ts';
import { asState, readState, writeState } from './store.ts';

/** A worker's end: the receiver's state as JSON, when it last looked for due deliveries, and whether it scheduled some. */
type Idle = { state: string; lookedAt: number; hasRetry: boolean };

/** Has the queue wake an idle webhook when its circuit lets a call through, or a delivery is due. */
export async function setTimer(
  env: Env,
  wake: Wake,
  { state, lookedAt, hasRetry }: Idle,
): Promise<void> {
  const { webhookId, accidents = false } = wake;
  const db = openDatabase(env);
  // One message names the first retry only, and a level of an accident may wait for the one before.
  const isTimer = wake.timer !== undefined && wake.timer === asState(state).timerAt;
  const mayWait = hasRetry || accidents || isTimer;
  const dueAt =
    mayWait && !isOpen(asState(state), lookedAt) ? await nextDueAt(db, webhookId, lookedAt) : null;
  return store(env, db, wake, state, dueAt);
}

/** Stores the timer in a receiver's state, as it was read, and sends its message. */
async function store(
  env: Env,
  db: Database,
  wake: Wake,
  state: string,
  dueAt: number | null,
): Promise<void> {
  const { accountId, webhookId, accidents: accidentWaits = false } = wake;
  const now = Date.now();
  const before = asState(state);
  const after = withTimer(before, { dueAt, accidentWaits }, now);
  if (after === before) return;
  const { written, found } = await transaction(db, {
    written: writeState(db, webhookId, state, after),
    found: readState(db, webhookId),
  });
  // Another worker was faster: this is decided again, unless the webhook is gone.
  if (written.meta.changes === 0) return found[0] && store(env, db, wake, found[0].state, dueAt);
  const { timerAt: timer } = after;
  if (timer === null || timer === before.timerAt) return;
  const delaySeconds = Math.max(0, Math.ceil((timer - now) / 1000));
  await sendAfter(env, { accountId, webhookId, worker: 1, timer }, delaySeconds);
}

/** When the next delivery of a webhook becomes due after a time; null if there is none. */
async function nextDueAt(db: Database, webhookId: string, after: number): Promise<number | null> {
  const at = firstDueOf(sql`${webhookId}`, after);
  // A value alone, of no table.
  const [row] = await transaction(db, db.all<{ at: number | null }>(sql`select ${at} as at`));
  return row?.at ?? null;
}
