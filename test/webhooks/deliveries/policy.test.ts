import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  nextAfter,
  type Outcome,
  parseRetryAfter,
  retries,
  schedule,
} from '../../../src/webhooks/deliveries/policy.ts';

const failed: Outcome = { result: 'status', status: 500, answer: '' };
const busy = (status: number, retryAfter: number): Outcome => ({
  result: 'status',
  status,
  answer: '',
  retryAfter,
});

describe('after an attempt', () => {
  it('success is the end', () => {
    expect(nextAfter({ result: 'success', status: 204, answer: '' }, 1, 0, 0)).toEqual({
      status: 'delivered',
    });
  });

  it('410 is the end', () => {
    expect(nextAfter({ ...failed, status: 410 }, 1, 0, 0)).toEqual({ status: 'failed' });
  });

  it('the waits are those of the schedule, and the last attempt is the end', () => {
    const waits = schedule.map((_, i) => nextAfter(failed, i + 1, 0, 0.5));
    expect(waits).toEqual(schedule.map((at) => ({ status: 'pending', at })));
    expect(nextAfter(failed, retries.maxAttempts, 0, 0.5)).toEqual({ status: 'failed' });
  });

  it('a wait is never off by more than 20 %, and doubled at most by Retry-After', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: schedule.length }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(1e9),
        fc.constantFrom(429, 503, 500),
        (attempts, random, retryAfter, status) => {
          const wait = schedule[attempts - 1] ?? 0;
          const plain = nextAfter(failed, attempts, 0, random);
          const asked = nextAfter(busy(status, retryAfter), attempts, 0, random);
          if (plain.status !== 'pending' || asked.status !== 'pending') throw new Error('not pending');
          expect(plain.at).toBeGreaterThanOrEqual(wait * 0.8 - 1);
          expect(plain.at).toBeLessThanOrEqual(wait * 1.2 + 1);
          expect(asked.at).toBeGreaterThanOrEqual(plain.at);
          expect(asked.at).toBeLessThanOrEqual(wait * 2);
          if (status === 500) expect(asked.at).toBe(plain.at);
        },
      ),
    );
  });

  it('Retry-After stretches the wait as far as it asks', () => {
    const [wait] = schedule;
    expect(nextAfter(busy(429, 1.5 * wait), 1, 0, 0.5)).toEqual({ status: 'pending', at: 1.5 * wait });
    expect(nextAfter(busy(503, 9 * wait), 1, 0, 0.5)).toEqual({ status: 'pending', at: 2 * wait });
  });
});

it.each([
  [null, undefined],
  ['7', 7000],
  ['soon', undefined],
  ['-5', undefined],
  ['Thu, 01 Jan 1970 00:01:00 GMT', 59_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
])('Retry-After %s is read as %s ms', (value, ms) => {
  expect(parseRetryAfter(value, 1000)).toBe(ms);
});
