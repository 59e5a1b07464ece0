import { asCaller, type Caller } from '../../core/platform/db/guard.ts';
import { type Notified, notifiedOf, selectNotified } from '../delivery-log/find.ts';
import { type Alerted, selectAlerted } from './alerted.ts';
import { selectCoveredOf } from './coverage.ts';

/**
 * Who was notified of an event or accident: webhooks, and the people and channels that have alerts; and whether anybody
 * is notified of accidents like it.
 */
export async function whoWasNotified(
  env: Env,
  caller: Caller,
  id: string,
): Promise<Notified & { alerted: Alerted[]; isCovered: boolean }> {
  const { alerted, covered, ...found } = await asCaller(env, caller, (db) => ({
    ...selectNotified(db, caller, id),
    covered: selectCoveredOf(env, db, caller, id),
    alerted: selectAlerted(db, caller, id),
  }));
  const isCovered = covered[0]?.isCovered ?? true;
  return { ...notifiedOf(env, found), alerted, isCovered };
}
