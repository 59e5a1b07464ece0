import { config } from '../config.ts';
import { lapseMs } from './token-cache.ts';

/**
 * Returns once nobody trusts a credential any more whose revocation D1 has just confirmed: to be called after that, and
 * before whoever asked for it is told. Without read replicas nobody trusts any, and it returns at once.
 */
export async function untilTrustsLapse(env: Env, wait = (ms: number) => scheduler.wait(ms)): Promise<void> {
  if (config(env).readReplicas) await wait(lapseMs);
}
