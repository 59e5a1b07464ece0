import { describe, expect, it, vi } from 'vitest';
import { withRetries } from '../../../src/platform/db/retry.ts';
import { Refusal } from '../../../src/platform/errors.ts';

const never = [
  'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
  'Cannot resolve D1 DB due to transient issue on remote node.',
];
const perhaps = [
  'D1_ERROR: Network connection lost.',
  'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  'Internal error while starting up D1 DB storage caused object to be reset.',
  'D1_ERROR: D1 DB reset because its code was updated.',
  "Can't read from request stream because client disconnected.",
];
const exhausted = [
  "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.",
  'D1_ERROR: D1 DB exceeded its CPU time limit and was reset.',
];

/** Work that fails with `reason` the first `failures` times. */
function flaky(reason: string, failures: number) {
  const work = vi.fn(async () => {
    if (work.mock.calls.length <= failures) throw new Error(reason);
    return 'done';
  });
  return work;
}

const unavailable = { failure: { kind: 'unavailable', retryAfter: 2 } };

describe('a call of D1', () => {
  it.each(never)('tries anything again when D1 never ran it: %s', async (reason) => {
    const work = flaky(reason, 2);
    expect(await withRetries(work, false)).toBe('done');
    expect(work).toHaveBeenCalledTimes(3);
  });

  it.each(perhaps)('tries again only what is safe to repeat when D1 may have run it: %s', async (reason) => {
    expect(await withRetries(flaky(reason, 2), true)).toBe('done');
    const work = flaky(reason, 1);
    await expect(withRetries(work, false)).rejects.toMatchObject(unavailable);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it.each([...never, ...perhaps])('gives up after two retries and says so: %s', async (reason) => {
    const work = flaky(reason, 3);
    await expect(withRetries(work, true)).rejects.toMatchObject(unavailable);
    expect(work).toHaveBeenCalledTimes(3);
  });

  it.each(exhausted)('does not repeat what used up D1: %s', async (reason) => {
    const work = flaky(reason, 1);
    await expect(withRetries(work, true)).rejects.toMatchObject(unavailable);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it.each(['D1_ERROR: Exceeded maximum DB size', 'D1_ERROR: database or disk is full: SQLITE_FULL'])(
    'is unavailable for a minute when the database is full: %s',
    async (reason) => {
      const work = flaky(reason, 1);
      const failure = { kind: 'unavailable', retryAfter: 60 };
      await expect(withRetries(work, true)).rejects.toMatchObject({ failure });
      expect(work).toHaveBeenCalledTimes(1);
    },
  );

  it('waits between tries, a different time each', async () => {
    const waits = vi.spyOn(scheduler, 'wait').mockResolvedValue();
    for (let i = 0; i < 20; i++) await withRetries(flaky('D1 DB is overloaded', 2), false);
    const ms = waits.mock.calls.map(([wait]) => wait);
    expect(Math.min(...ms)).toBeGreaterThanOrEqual(25);
    expect(Math.max(...ms)).toBeLessThanOrEqual(300);
    expect(new Set(ms).size).toBeGreaterThan(20);
  });

  it.each(['D1_ERROR: no such table: nothing', 'D1_ERROR: UNIQUE constraint failed: a.b'])(
    'passes on what is wrong for good: %s',
    async (reason) => {
      const work = flaky(reason, 1);
      await expect(withRetries(work, true)).rejects.toThrow(reason);
      await expect(withRetries(flaky(reason, 1), true)).rejects.not.toBeInstanceOf(Refusal);
      expect(work).toHaveBeenCalledTimes(1);
    },
  );
});
