import fc from 'fast-check';
import {
  nextAfter,
  type Outcome,
  priorityOf,
  scheduleOf,
} from '#src/core/webhooks/deliveries/policy.ts';
import { ACCIDENT, EVENT } from '#src/core/webhooks/notifications/types.ts';

const first = { type: EVENT, attempts: 1 } as const;
const failed: Outcome = { result: 'status', status: 500, answer: '' };
const busy = (status: number, retryAfter: number): Outcome => ({
  result: 'status',
  status,
  answer: '',
  retryAfter,
});

describe('after an attempt', () => {
  it('success is the end, and 410 as well', () => {
    const ends = [
      { ...failed, result: 'success' as const },
      { ...failed, status: 410 },
    ];
    expect(ends.map((outcome) => nextAfter(outcome, first, 0, 0).status)).toEqual([
      'delivered',
      'failed',
    ]);
  });

  it.each([ACCIDENT, EVENT])(
    'the waits of type %i are those of its schedule, and the last attempt is the end',
    (type) => {
      const waits = scheduleOf(type).map((_, i) =>
        nextAfter(failed, { type, attempts: i + 1 }, 0, 0.5),
      );
      expect(waits).toEqual(
        scheduleOf(type).map((nextAttemptAt) => ({ status: 'pending', nextAttemptAt })),
      );
      expect(nextAfter(failed, { type, attempts: scheduleOf(type).length + 1 }, 0, 0.5)).toEqual({
        status: 'failed',
      });
    },
  );

  it('an accident is retried at least each half minute for ten minutes', () => {
    let at = 0;
    for (let attempts = 1; at < 600_000; attempts++) {
      const next = nextAfter(failed, { type: ACCIDENT, attempts }, at, 1);
      if (next.status !== 'pending') throw new Error('not pending');
      expect(next.nextAttemptAt - at).toBeLessThanOrEqual(30_000);
      at = next.nextAttemptAt;
    }
  });

  it('a wait is never off by more than 20 %, and doubled at most by Retry-After', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(ACCIDENT, EVENT),
        fc.nat(1000),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(1e9),
        fc.constantFrom(429, 503, 500),
        (type, any, random, retryAfter, status) => {
          const made = { type, attempts: 1 + (any % scheduleOf(type).length) };
          const wait = scheduleOf(type)[made.attempts - 1] ?? 0;
          const plain = nextAfter(failed, made, 0, random);
          const asked = nextAfter(busy(status, retryAfter), made, 0, random);
          if (plain.status !== 'pending' || asked.status !== 'pending')
            throw new Error('not pending');
          expect(plain.nextAttemptAt).toBe(Math.round(wait * (0.8 + 0.4 * random)));
          expect(asked.nextAttemptAt).toBeGreaterThanOrEqual(plain.nextAttemptAt);
          expect(asked.nextAttemptAt).toBeLessThanOrEqual(wait * 2);
          if (status === 500) expect(asked.nextAttemptAt).toBe(plain.nextAttemptAt);
          else if (retryAfter > 2 * wait) expect(asked.nextAttemptAt).toBe(2 * wait);
        },
      ),
    );
  });
});

it.each([
  ['an accident', ACCIDENT, 0, 0],
  ['an event of risk 5', EVENT, 5, 1],
  ['of risk 4', EVENT, 4, 2],
  ['of risk 3', EVENT, 3, 3],
  ['without risk', EVENT, 0, 3],
])('%s has its priority', (_, type, risk, priority) => {
  expect(priorityOf(type as typeof ACCIDENT, risk)).toBe(priority);
});
