/** Who holds a slot or waits in line for one, in order, and until when that counts: an invocation can be killed. */
type Account = { holders: Map<object, number>; line: Map<object, number> };

/** Work takes less than this: what holds a slot for longer is gone. So is who has not looked at the line for a while. */
const longestHoldMs = 5_000;
const lateLookMs = 200;

/** The longest time between two looks at the line. */
const longestLookMs = 250;

/** How many accounts are remembered before those are forgotten whose slots only rested. */
const maxRemembered = 1000;

/**
 * Bounds how much of some work each account may do at the same time in this isolate: `max` at a time, in order of
 * arrival. About every `stepMs` one of them ends. After work that took some milliseconds, its slot stays taken for
 * `restAfter` of them. Invocations cannot resolve each other's promises, so those in line look for themselves, the
 * more often the nearer they are to its head.
 */
export function slotsPerAccount(
  max: number | ((accountId: string) => number),
  stepMs: number,
  restAfter: (accountId: string, ms: number) => number = () => 0,
) {
  const accounts = new Map<string, Account>();

  /** The place of `me` in line, from 1; 0 if it is its turn, and then it has the slot. */
  const placeInLine = (accountId: string, { holders, line }: Account, me: object): number => {
    const most = typeof max === 'number' ? max : max(accountId);
    const now = Date.now();
    dropLost(holders, now);
    dropLost(line, now);
    const [first] = line.keys();
    if (holders.size < most && (first === undefined || first === me)) {
      line.delete(me);
      holders.set(me, now + longestHoldMs);
      return 0;
    }
    const place = [...line.keys()].indexOf(me);
    return 1 + (place < 0 ? line.size : place);
  };

  const find = (accountId: string): Account => {
    const known = accounts.get(accountId);
    if (known) return known;
    if (accounts.size >= maxRemembered) forgetRested(accounts, Date.now());
    const account = { holders: new Map(), line: new Map() };
    accounts.set(accountId, account);
    return account;
  };

  return {
    /**
     * Runs `work` once the account has a free slot. Returns undefined, without having run it, if none became free
     * within `patienceMs`.
     */
    async run<T>(accountId: string, patienceMs: number, work: () => Promise<T>): Promise<T | undefined> {
      const account = find(accountId);
      const me = {};
      const until = Date.now() + patienceMs;
      try {
        for (
          let place = placeInLine(accountId, account, me);
          place > 0;
          place = placeInLine(accountId, account, me)
        ) {
          if (Date.now() >= until) return undefined;
          const lookMs = Math.min(longestLookMs, stepMs * place);
          account.line.set(me, Date.now() + lookMs + lateLookMs);
          await scheduler.wait(lookMs);
        }
        const began = Date.now();
        const result = await work();
        const restMs = restAfter(accountId, Date.now() - began);
        if (restMs > 0) account.holders.set({}, Date.now() + restMs);
        return result;
      } finally {
        account.holders.delete(me);
        account.line.delete(me);
        if (account.holders.size + account.line.size === 0) accounts.delete(accountId);
      }
    },

    /** How many wait for a slot of the account. */
    waiting: (accountId: string): number => accounts.get(accountId)?.line.size ?? 0,

    /** How many accounts are remembered. */
    remembered: (): number => accounts.size,
  };
}

function forgetRested(accounts: Map<string, Account>, now: number): void {
  for (const [id, { holders, line }] of accounts) {
    dropLost(holders, now);
    if (holders.size + line.size === 0) accounts.delete(id);
  }
}

function dropLost(entries: Map<object, number>, now: number): void {
  for (const [entry, until] of entries) if (until <= now) entries.delete(entry);
}
