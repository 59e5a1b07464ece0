import { withRetries } from '#src/core/platform/db/retry.ts';

function flaky(reason: string, failures: number) {
  const work = vi.fn(async () => {
    if (work.mock.calls.length <= failures) throw new Error(reason);
    return 'done';
  });
  return work;
}

beforeEach(() => void vi.spyOn(scheduler, 'wait').mockResolvedValue());

/** What D1 says, how often work is tried that is safe to repeat and that is not, and what comes of it in the end. */
it.each<[reason: string, repeatable: number, others: number, retryAfter?: number]>([
  ['D1_ERROR: D1 DB is overloaded. Too many requests queued.', 3, 3, 2],
  ['Cannot resolve D1 DB due to transient issue on remote node.', 3, 3, 2],
  ['D1_ERROR: Network connection lost.', 3, 1, 2],
  ['D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.', 3, 1, 2],
  ['D1_ERROR: Internal error in D1 DB storage caused object to be reset.', 3, 1, 2],
  ['Internal error while starting up D1 DB storage caused object to be reset.', 3, 1, 2],
  ['D1_ERROR: D1 DB reset because its code was updated.', 3, 1, 2],
  ["Can't read from request stream because client disconnected.", 3, 1, 2],
  ["D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.", 1, 1, 2],
  ['D1_ERROR: D1 DB exceeded its CPU time limit and was reset.', 1, 1, 2],
  ['D1_ERROR: Exceeded maximum DB size', 1, 1, 60],
  ['D1_ERROR: database or disk is full: SQLITE_FULL', 1, 1, 60],
  ['D1_ERROR: no such table: nothing', 1, 1],
  ['D1_ERROR: UNIQUE constraint failed: a.b', 1, 1],
  ["D1_ERROR: bad JSON path: 'Network connection lost'", 1, 1],
  ["D1_ERROR: bad JSON path: 'database or disk is full: SQLITE_FULL'", 1, 1],
])(
  'after "%s", repeatable work is tried %d times, other work %d',
  async (reason, repeatable, others, retryAfter) => {
    for (const [isRepeatable, tries] of [
      [true, repeatable],
      [false, others],
    ] as const) {
      expect(await withRetries(flaky(reason, tries - 1), isRepeatable)).toBe('done');
      const fails = flaky(reason, tries);
      const failure = retryAfter
        ? { failure: { kind: 'unavailable', retryAfter } }
        : { message: reason };
      await expect(withRetries(fails, isRepeatable)).rejects.toMatchObject(failure);
      expect(fails).toHaveBeenCalledTimes(tries);
    }
  },
);

it('waits between tries, a different time each', async () => {
  for (let i = 0; i < 20; i++) await withRetries(flaky('D1 DB is overloaded', 2), false);
  const ms = vi.mocked(scheduler.wait).mock.calls.map(([wait]) => wait);
  expect(Math.min(...ms)).toBeGreaterThanOrEqual(25);
  expect(Math.max(...ms)).toBeLessThanOrEqual(300);
  expect(new Set(ms).size).toBeGreaterThan(20);
});
