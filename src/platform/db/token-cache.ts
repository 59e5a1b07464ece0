import { Refusal } from '../errors.ts';

/** For how long the check of a token is trusted, in milliseconds since before it was sent. */
export const trustMs = 2000;

/**
 * How long after a revocation every such trust has lapsed. All of them began before it was confirmed, and only durations
 * are compared; the twentieth on top is for clocks that run at different speeds, and timers that are early.
 */
export const lapseMs = 1.05 * trustMs;

/** A check that has passed: when it was sent, when the token was last used, and whether another is on its way. */
type Trust = { sentAt: number; lastUsedAt: number; renewing: boolean };

/** What a trust is good for at a time of the same clock. One from the future is none: the clock was set back. */
export function standing(sentAt: number, now: number): 'lapsed' | 'fresh' | 'ageing' {
  const age = now - sentAt;
  if (age < 0 || age >= trustMs) return 'lapsed';
  return age < trustMs / 2 ? 'fresh' : 'ageing';
}

/** The checks that an isolate trusts, by token. `clock` is its own, in milliseconds since whenever. */
export function newTrusts(clock: () => number = Date.now, most = 10_000) {
  const known = new Map<string, Trust>();
  return {
    /**
     * Uses the trust in a token, if there is one. Says when the token was last used, once for each check: whoever is
     * told records the use. Says whether to check it again meanwhile, once until that is done.
     */
    use(tokenId: string): { lastUsedAt: number; renew: boolean } | undefined {
      const trust = known.get(tokenId);
      const now = clock();
      const stands = trust ? standing(trust.sentAt, now) : 'lapsed';
      if (!trust || stands === 'lapsed') return undefined;
      const use = { lastUsedAt: trust.lastUsedAt, renew: stands === 'ageing' && !trust.renewing };
      trust.lastUsedAt = now;
      trust.renewing ||= use.renew;
      return use;
    },

    /**
     * Asks the primary, which says when the token was last used, and trusts it from before it was asked. `told` says that
     * whoever asks records the use.
     */
    async check(tokenId: string, ask: () => Promise<number>, told: boolean): Promise<number> {
      const sentAt = clock();
      try {
        const lastUsedAt = await ask();
        if (known.size >= most) known.clear();
        if (sentAt >= (known.get(tokenId)?.sentAt ?? sentAt))
          known.set(tokenId, { sentAt, lastUsedAt: told ? sentAt : lastUsedAt, renewing: false });
        return lastUsedAt;
      } catch (error) {
        if (error instanceof Refusal && error.failure.kind !== 'unavailable') known.delete(tokenId);
        throw error;
      }
    },
  };
}
export type Trusts = ReturnType<typeof newTrusts>;

/** How a list can be read, by whoever holds a token. */
export type Ways<T> = {
  /** Checks the token on the primary. Returns when it was last used. */
  check: () => Promise<number>;
  replica: () => Promise<T>;
  /** Reads the primary, which checks the token in the same transaction. `error` is what the replica threw. */
  primary: (error: unknown) => Promise<T>;
  /** Has work go on behind the reply. */
  behind: (work: Promise<unknown>) => void;
  /** Told when the token was last used. */
  used: (lastUsedAt: number) => void;
};

/**
 * Reads a replica for a token whose check on the primary is trusted, or passes at the same time: then nothing is returned
 * before it has. What a replica refuses, or fails to do, is the primary's to say.
 *
 * @throws what the check throws, or the primary
 */
export async function readTrusting<T>(trusts: Trusts, tokenId: string, ways: Ways<T>): Promise<T> {
  const { check, replica, primary, behind, used } = ways;
  const trusted = trusts.use(tokenId);
  if (trusted) {
    used(trusted.lastUsedAt);
    if (trusted.renew) behind(trusts.check(tokenId, check, false).catch(() => {})); // the trust lapses, or is dropped
    return replica().catch(primary);
  }
  const [lastUsedAt, result] = await Promise.all([
    trusts.check(tokenId, check, true),
    replica().catch(primary),
  ]);
  used(lastUsedAt);
  return result;
}
