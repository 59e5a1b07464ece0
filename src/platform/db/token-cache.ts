import { config } from '../config.ts';
import { Refusal } from '../errors.ts';

/** The TTL of a token's check that has passed, in milliseconds since before it was sent. */
export const cacheTtlMs = 2000;

/**
 * How long after a revocation every check from before it has expired. All of them began before it was confirmed, and only
 * durations are compared; the twentieth on top is for clocks that run at different speeds, and timers that are early.
 */
export const allExpiredMs = 1.05 * cacheTtlMs;

/**
 * Returns once no isolate has a check of a credential cached any more whose revocation D1 has just confirmed: to be called
 * after that, and before the request for it returns. Without read replicas nothing is cached, and it returns at once.
 */
export async function untilCachesExpire(env: Env, wait = (ms: number) => scheduler.wait(ms)): Promise<void> {
  if (config(env).readReplicas) await wait(allExpiredMs);
}

/** A check that has passed: when it was sent, when the token was last used, and whether another is on its way. */
type CachedCheck = { sentAt: number; lastUsedAt: number; renewing: boolean };

/** How fresh a check is at a time of the same clock. One from the future has expired: the clock was set back. */
export function freshness(sentAt: number, now: number): 'expired' | 'fresh' | 'ageing' {
  const age = now - sentAt;
  if (age < 0 || age >= cacheTtlMs) return 'expired';
  return age < cacheTtlMs / 2 ? 'fresh' : 'ageing';
}

/** The checks that an isolate has cached, by token. `clock` is its own, in milliseconds since whenever. */
export function newTokenCache(clock: () => number = Date.now, most = 10_000) {
  const cached = new Map<string, CachedCheck>();
  return {
    /**
     * Uses the cached check of a token, if there is one. Says when the token was last used, once for each check: whoever
     * is told records the use. Says whether to check it again meanwhile, once until that is done.
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
     * Asks the primary, which says when the token was last used, and caches that from before it was asked. `recorded`
     * says that whoever asks records the use.
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

/** How a list can be read, by whoever holds a token. */
export type Ways<T> = {
  /** Checks the token on the primary. Returns when it was last used. */
  check: () => Promise<number>;
  replica: () => Promise<T>;
  /** Reads the primary, which checks the token in the same transaction. `error` is what the replica threw. */
  primary: (error: unknown) => Promise<T>;
  /** Has work go on behind the reply. */
  behind: (work: Promise<unknown>) => void;
  /** Called with when the token was last used. */
  used: (lastUsedAt: number) => void;
};

/**
 * Reads a replica for a token whose check on the primary is cached, or passes at the same time: then nothing is returned
 * before it has. What a replica refuses, or fails to do, is the primary's to say.
 *
 * @throws what the check throws, or the primary
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
