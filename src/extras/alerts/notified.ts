import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { type Notified, notifiedOf, selectNotified } from '../delivery-log/find.ts';
import { type Alerted, selectAlerted } from './alerted.ts';

/** Who was notified of an event or accident: webhooks, and the people and channels that have alerts. */
export async function whoWasNotified(
  env: Env,
  caller: Caller,
  id: string,
): Promise<Notified & { alerted: Alerted[] }> {
  const { alerted, ...found } = await asCaller(env, caller, (db) => ({
    ...selectNotified(db, caller, id),
    alerted: selectAlerted(db, caller, id),
  }));
  return { ...notifiedOf(env, found), alerted };
}
