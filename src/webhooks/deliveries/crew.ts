import { othersAreActive } from '../../platform/db/turns.ts';
import type { Wake } from './queue.ts';

/**
 * An account's lanes in this isolate, each until when it counts, the wakes that wait for one of them, and how many
 * lanes were added since when.
 */
type Crew = { lanes: Map<object, number>; waiting: Map<string, Wake>; added: number; addedSince: number };

/** While other accounts are active, lanes may have so many others join them in a second. */
const addedPerSecond = 10;

/** A lane's invocation ends sooner than this, so one that lasts longer has been killed. */
const longestLaneMs = 45_000;

/** More wakes of an account than this are dropped; the sweep finds what they were about. */
const maxWaiting = 5_000;

/** A lane's membership of its account's crew. */
export type Member = {
  /** The next wake that waits for a lane of the account; it is then this lane's. */
  next: () => Wake | undefined;
  /** Has a wake wait behind the others. */
  putBack: (wake: Wake) => void;
  /** Whether wakes of the account wait. */
  isContended: () => boolean;
  /** Whether this lane may have another one join: the queue is everybody's. */
  mayAdd: () => boolean;
  leave: () => void;
};

/**
 * Bounds the lanes of each account in this isolate to `maxLanes`. Wakes beyond them wait in memory, not in the queue,
 * which they would fill for everybody: a lane that is done takes the next.
 */
export function crews(maxLanes: number) {
  const accounts = new Map<string, Crew>();
  return {
    /** Joins the account's crew. Returns undefined if that is complete, and then the wake waits. */
    join(wake: Wake): Member | undefined {
      const { accountId } = wake;
      const crew = accounts.get(accountId) ?? {
        lanes: new Map(),
        waiting: new Map(),
        added: 0,
        addedSince: 0,
      };
      accounts.set(accountId, crew);
      const { lanes, waiting } = crew;
      const now = Date.now();
      for (const [lane, until] of lanes) if (until <= now) lanes.delete(lane);
      const putBack = (wake: Wake) => {
        if (waiting.size < maxWaiting) waiting.set(`${wake.webhookId} ${wake.lane}`, wake);
      };
      if (lanes.size >= maxLanes) {
        putBack(wake);
        return undefined;
      }
      const me = {};
      lanes.set(me, now + longestLaneMs);
      return {
        next() {
          const [first] = waiting;
          if (first) waiting.delete(first[0]);
          return first?.[1];
        },
        putBack,
        isContended: () => waiting.size > 0,
        mayAdd() {
          if (waiting.size > 0) return false;
          if (!othersAreActive(accountId)) return true;
          if (crew.addedSince < Date.now() - 1000) Object.assign(crew, { added: 0, addedSince: Date.now() });
          return ++crew.added <= addedPerSecond;
        },
        leave() {
          lanes.delete(me);
          if (lanes.size + waiting.size === 0) accounts.delete(accountId);
        },
      };
    },
  };
}
