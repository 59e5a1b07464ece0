import { AsyncLocalStorage } from 'node:async_hooks';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** What runs in the service: a request, a message, the minute's cron. It ends 30 s after its handler at the latest. */
export type Invocation = {
  name: string;
  /** Ended by itself, or killed. */
  over: boolean;
  /** A call of it failed, took long, or it was killed: what it had done may not be recorded. */
  disturbed: boolean;
  /** How far its clock is off, in milliseconds. */
  skew: number;
  onKill: () => void;
};
type Waiting = {
  store: string;
  since: number;
  of: Invocation | undefined;
  carryOut: (fault?: Fault) => void;
};
type Timer = { at: number; of: Invocation | undefined; wake: () => void };
type Fault = 'before' | 'after' | 'late';

export type Kernel = ReturnType<typeof kernel>;

const behindHandlerMs = 30_000;

/** A slower call of D1 may outlive a claim, and the slowest may even run after its caller has ended. */
const slowMs = 5_000;
export const longestMs = 40_000;

/** How long a reply may take that nothing is wrong with. */
const slowReplyMs = 5_000;

/**
 * Decides what happens next in a simulated world: every call of a store, every timer and every message waits until its
 * turn comes, in an order, with faults and at times that depend on the seed alone.
 */
export function kernel(seed: number, start: number, note: (what: string) => void) {
  const generator = xoroshiro128plus(seed);
  const random = () => (generator.next() >>> 0) / 2 ** 32;
  const below = (count: number) => Math.floor(random() * count);
  const pick = <T>(of: T[]): T => {
    const one = of[below(of.length)];
    if (one === undefined) throw new Error('There is nothing to pick from');
    return one;
  };
  /** How far the clock of an invocation is off at most, if there are faults. */
  const mostSkew = pick([0, 5_000]);
  const invocations = new AsyncLocalStorage<Invocation>();
  const alive = new Set<Invocation>();
  let waiting: Waiting[] = [];
  let timers: Timer[] = [];
  let now = start;
  let activity = 0;
  const faults = { rate: 0 };

  const never = () => new Promise<never>(() => {});
  const after = (ms: number, of: Invocation | undefined, wake: () => void): Timer => {
    const timer = { at: now + Math.ceil(Math.max(0, ms)), of, wake };
    activity++;
    timers.push(timer);
    return timer;
  };
  const first = () =>
    timers.reduce<Timer | undefined>((a, b) => (a && a.at <= b.at ? a : b), undefined);
  const drop = (timer: Timer) => {
    timers = timers.filter((one) => one !== timer);
  };
  const passTo = (time: number) => {
    now = Math.max(now, time);
  };

  const kill = (invocation: Invocation) => {
    if (invocation.over) return;
    note(`${invocation.name} is killed`);
    const lost = waiting.filter(({ of }) => of === invocation);
    waiting = waiting.filter(({ of }) => of !== invocation);
    // D1 may still do what was on its way.
    for (const { carryOut } of lost) if (random() < 0.5) carryOut('after');
    timers = timers.filter(({ of }) => of !== invocation);
    invocation.disturbed = true;
    invocation.over = true;
    alive.delete(invocation);
    invocation.onKill();
  };

  const self = {
    random,
    below,
    pick,
    /** One of these, by their weights. */
    choose: <T>(of: [number, T][]): T => {
      let left = random() * of.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, one] of of) {
        left -= weight;
        if (left < 0) return one;
      }
      throw new Error('There is nothing to choose from');
    },
    faults,
    mostSkew,
    now: () => now,
    /** The time by the clock of whoever asks. */
    clock: () => now + (invocations.getStore()?.skew ?? 0),
    passTo,
    note,
    kill,
    current: () => invocations.getStore(),
    invocations: () => [...alive],
    nextTimer: () => first()?.at ?? Infinity,
    waiting: () => waiting.length,

    /** A call of a store: it is carried out when its turn comes, or fails. */
    through: <T>(store: string, work: () => T): Promise<T> => {
      const of = invocations.getStore();
      if (of?.over) return never();
      activity++;
      return new Promise((resolve, reject) => {
        const queue = (what: string, carryOut: Waiting['carryOut']) =>
          waiting.push({ store: what, since: now, of, carryOut });
        const reply = (arrive: () => void) => {
          const chance = random();
          if (chance < 0.04) after(below(slowReplyMs), of, arrive);
          else if (chance < 0.3) queue(`the reply of ${store}`, arrive);
          else arrive();
        };
        const carryOut = (fault?: Fault) => {
          if (fault === 'before')
            return reject(new Error(`${store}_ERROR: storage caused object to be reset.`));
          if (fault === 'late')
            return void after(below(longestMs), of, () => queue(store, carryOut));
          try {
            const done = work();
            if (fault) reject(new Error(`${store}_ERROR: Network connection lost.`));
            else reply(() => resolve(done));
          } catch (error) {
            reject(error);
          }
        };
        queue(store, carryOut);
      });
    },

    sleep: (ms: number, signal?: AbortSignal): Promise<void> => {
      const of = invocations.getStore();
      if (of?.over) return never();
      return new Promise((wake, reject) => {
        const timer = after(ms, of, wake);
        signal?.addEventListener('abort', () => {
          drop(timer);
          reject(signal.reason);
        });
      });
    },

    /** Runs a handler as an invocation. Resolves with what it returned, or undefined if it was killed before. */
    invoke: <T>(
      name: string,
      handler: (context: ExecutionContext) => Promise<T>,
    ): Promise<T | undefined> => {
      const behind: Promise<unknown>[] = [];
      return new Promise((resolve) => {
        const invocation: Invocation = {
          name,
          over: false,
          disturbed: false,
          skew: faults.rate > 0 ? below(2 * mostSkew + 1) - mostSkew : 0,
          onKill: () => resolve(undefined),
        };
        alive.add(invocation);
        const context = {
          waitUntil: (work: Promise<unknown>) => void behind.push(work.catch(() => {})),
        };
        const run = async () => {
          const returned = await handler(context as ExecutionContext).catch(() => undefined);
          resolve(returned);
          const deadline = after(behindHandlerMs, undefined, () => kill(invocation));
          for (let one = behind.pop(); one; one = behind.pop()) await one;
          drop(deadline);
          invocation.over = true;
          alive.delete(invocation);
        };
        void invocations.run(invocation, run);
      });
    },

    /** Carries out one of the calls that wait, or has it fail. */
    carryOutOne: () => {
      const [call] = waiting.splice(below(waiting.length), 1);
      if (!call) return;
      passTo(now + 1 + below(random() < 0.04 ? 1000 : 8));
      const fails = !call.store.startsWith('the reply') && random() < faults.rate;
      const fault = fails ? pick(['before', 'after', 'late'] as const) : undefined;
      note(`${call.store} of ${call.of?.name}${fault ? ` fails: ${fault}` : ''}`);
      const isSlow = now - call.since > slowMs;
      if (call.of && /D1/.test(call.store) && (fault || isSlow)) call.of.disturbed = true;
      call.carryOut(fault);
    },

    /** Wakes whoever sleeps the shortest. */
    wakeOne: () => {
      const timer = first();
      if (!timer) return;
      passTo(timer.at);
      drop(timer);
      timer.wake();
    },

    /** Waits until all that is awake has come to a call, a timer or its end. `busy` says whether something else is at work. */
    settle: async (busy: () => boolean): Promise<void> => {
      for (let quiet = 0; quiet < 3; quiet++) {
        const before = activity;
        await new Promise<void>((on) => setImmediate(on));
        if (activity !== before || busy()) quiet = -1;
      }
    },
  };
  return self;
}
