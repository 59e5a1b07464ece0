import { trustedMs } from '../../core/platform/db/reads.ts';
import { Refusal } from '../../core/platform/errors.ts';

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
    if (!found || age < 0 || age >= trustedMs) {
      const [lastUsedAt, result] = await Promise.all([check(tokenId, ask, true), read()]);
      return { lastUsedAt, result };
    }
    const { lastUsedAt } = found;
    found.lastUsedAt = clock();
    if (age >= trustedMs / 2 && !found.renewing) {
      found.renewing = true;
      behind(check(tokenId, ask, false).catch(() => {})); // it expires, or is dropped
    }
    return { lastUsedAt, result: await read() };
  };
}
