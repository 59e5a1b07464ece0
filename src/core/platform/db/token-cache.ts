import { config } from '../config.ts';
import { Refusal } from '../errors.ts';

/** How long a passed check is cached, in milliseconds since before it was sent. */
export const cacheTtlMs = 2000;

/** When every check from before a revocation has expired; a twentieth more for imprecise clocks. */
export const allExpiredMs = 1.05 * cacheTtlMs;

/** Returns once no isolate has a cached check of a credential that was just revoked. */
export async function untilCachesExpire(
  env: Env,
  wait = (ms: number) => scheduler.wait(ms),
): Promise<void> {
  if (config(env).readReplicas) await wait(allExpiredMs);
}

/** A passed check: when it was sent, the token last used, and a renewal under way. */
type CachedCheck = { sentAt: number; lastUsedAt: number; renewing: boolean };

/** The checks that an isolate has cached, by token. `clock` is in milliseconds since any moment. */
export function newTokenCache(clock: () => number = Date.now, most = 10_000) {
  const cached = new Map<string, CachedCheck>();

  /** Checks a token, and caches that as of before the primary was asked. */
  async function check(
    tokenId: string,
    ask: () => Promise<number>,
    recorded: boolean,
  ): Promise<number> {
    const sentAt = clock();
    try {
      const lastUsedAt = await ask();
      if (cached.size >= most) cached.clear();
      if (sentAt >= (cached.get(tokenId)?.sentAt ?? sentAt))
        cached.set(tokenId, {
          sentAt,
          lastUsedAt: recorded ? sentAt : lastUsedAt,
          renewing: false,
        });
      return lastUsedAt;
    } catch (error) {
      if (error instanceof Refusal && error.failure.kind !== 'unavailable') cached.delete(tokenId);
      throw error;
    }
  }

  /**
   * Reads for a token whose check is cached, renewing an old one `behind` the reply; or checks it
   * meanwhile. Returns when the token was last used, once per check, with what was read.
   * @throws what the check or the read throws
   */
  return async <T>(
    tokenId: string,
    ask: () => Promise<number>,
    read: () => Promise<T>,
    behind: (work: Promise<unknown>) => void,
  ): Promise<{ lastUsedAt: number; result: T }> => {
    const found = cached.get(tokenId);
    const age = found ? clock() - found.sentAt : -1; // negative as well where the clock was set back
    if (!found || age < 0 || age >= cacheTtlMs) {
      const [lastUsedAt, result] = await Promise.all([check(tokenId, ask, true), read()]);
      return { lastUsedAt, result };
    }
    const { lastUsedAt } = found;
    found.lastUsedAt = clock();
    if (age >= cacheTtlMs / 2 && !found.renewing) {
      found.renewing = true;
      behind(check(tokenId, ask, false).catch(() => {})); // it expires, or is dropped
    }
    return { lastUsedAt, result: await read() };
  };
}
