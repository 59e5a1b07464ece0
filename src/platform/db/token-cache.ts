import { config } from '../config.ts';
import { Refusal } from '../errors.ts';

/** How long a passed check is cached, in milliseconds since before it was sent. */
export const cacheTtlMs = 2000;

/**
 * How long after a revocation every earlier check has expired. They all began before it was confirmed, and only
 * durations are compared; the extra twentieth allows for clocks of different speed and early timers.
 */
export const allExpiredMs = 1.05 * cacheTtlMs;

/**
 * Returns once no isolate can have a cached check of a credential whose revocation D1 has just confirmed: to be called
 * after that, and before the request returns. Without read replicas it returns at once.
 */
export async function untilCachesExpire(env: Env, wait = (ms: number) => scheduler.wait(ms)): Promise<void> {
  if (config(env).readReplicas) await wait(allExpiredMs);
}

/** A passed check: when it was sent, when the token was last used, and whether another check is under way. */
type CachedCheck = { sentAt: number; lastUsedAt: number; renewing: boolean };

/** How fresh a check is. One from the future has expired: the clock was set back. */
function freshness(sentAt: number, now: number): 'expired' | 'fresh' | 'ageing' {
  const age = now - sentAt;
  if (age < 0 || age >= cacheTtlMs) return 'expired';
  return age < cacheTtlMs / 2 ? 'fresh' : 'ageing';
}

/** The checks that an isolate has cached, by token. `clock` is in milliseconds since any moment. */
export function newTokenCache(clock: () => number = Date.now, most = 10_000) {
  const cached = new Map<string, CachedCheck>();
  return {
    /**
     * Uses the cached check of a token, if there is one. Returns when the token was last used, only once per check,
     * because the caller then records the use; and whether to renew the check, which is also returned once.
     */
    use(tokenId: string): { lastUsedAt: number; renew: boolean } | undefined {
      const check = cached.get(tokenId);
      const now = clock();
      const state = check ? freshness(check.sentAt, now) : 'expired';
      if (!check || state === 'expired') return undefined;
      const use = { lastUsedAt: check.lastUsedAt, renew: state === 'ageing' && !check.renewing };
      check.lastUsedAt = now;
      check.renewing ||= use.renew;
      return use;
    },

    /**
     * Asks the primary when the token was last used, and caches that as of before it was asked. `recorded`: the caller
     * records the use.
     */
    async check(tokenId: string, ask: () => Promise<number>, recorded: boolean): Promise<number> {
      const sentAt = clock();
      try {
        const lastUsedAt = await ask();
        if (cached.size >= most) cached.clear();
        if (sentAt >= (cached.get(tokenId)?.sentAt ?? sentAt))
          cached.set(tokenId, { sentAt, lastUsedAt: recorded ? sentAt : lastUsedAt, renewing: false });
        return lastUsedAt;
      } catch (error) {
        if (error instanceof Refusal && error.failure.kind !== 'unavailable') cached.delete(tokenId);
        throw error;
      }
    },
  };
}
export type TokenCache = ReturnType<typeof newTokenCache>;

/** How a list can be read for a token. */
export type Ways<T> = {
  check: () => Promise<number>;
  replica: () => Promise<T>;
  primary: (error: unknown) => Promise<T>;
  /** Continues work after the reply. */
  behind: (work: Promise<unknown>) => void;
  used: (lastUsedAt: number) => void;
};

/**
 * Reads a replica for a token whose check on the primary is cached, or passes at the same time; the result is returned
 * only then. When a replica refuses or fails, the primary decides.
 *
 * @throws what the check or the primary throws
 */
export async function readWithCache<T>(cache: TokenCache, tokenId: string, ways: Ways<T>): Promise<T> {
  const { check, replica, primary, behind, used } = ways;
  const cached = cache.use(tokenId);
  if (cached) {
    used(cached.lastUsedAt);
    if (cached.renew) behind(cache.check(tokenId, check, false).catch(() => {})); // it expires, or is dropped
    return replica().catch(primary);
  }
  const [lastUsedAt, result] = await Promise.all([
    cache.check(tokenId, check, true),
    replica().catch(primary),
  ]);
  used(lastUsedAt);
  return result;
}
