import {
  type Bounds,
  fairQueue,
  halfTheTime,
  largeTransactions,
  markActive,
  othersAreActive,
} from '#src/core/platform/fair-queue.ts';
import { longestMs } from '#src/core/platform/http/every-request.ts';
import { times } from '#test/support/records.ts';

const queueOf = (bounds: Partial<Bounds>) =>
  fairQueue({ maxWaiting: 100, timeoutMs: 5000, stepMs: 5, pauseMs: () => 0, ...bounds });

describe('a fair queue', () => {
  it('lets one of an account work at a time, in order, and others at once', async () => {
    const queue = queueOf({});
    const began: number[] = [];
    let working = 0;
    let most = 0;
    const work = (i: number) => async () => {
      began.push(i);
      most = Math.max(most, ++working);
      await scheduler.wait(20);
      working--;
      return i;
    };
    const all = times(6, (i) => queue.run('ours', work(i)));
    expect(await queue.run('theirs', async () => 'at once')).toEqual({ result: 'at once' });
    expect(await Promise.all(all)).toEqual(times(6, (result) => ({ result })));
    expect([began, most]).toEqual([times(6, (i) => i), 1]);
  });

  it('gives up after a while, or at once if too many wait, and goes on if work fails', async () => {
    const queue = queueOf({ timeoutMs: 30, maxWaiting: 1 });
    const until = Promise.withResolvers<void>();
    const first = queue.run('ours', () => until.promise);
    const second = queue.run('ours', async () => 'never');
    expect(await queue.run('ours', async () => 'never')).toBeUndefined();
    expect(await second).toBeUndefined();
    until.reject(new Error('D1 is down'));
    await expect(first).rejects.toThrow('D1 is down');
    expect(await queue.run('ours', async () => 'now')).toEqual({ result: 'now' });
  });

  it('forgets work whose invocation was killed, and who was killed in line', async () => {
    const queue = queueOf({ timeoutMs: 20 });
    const now = Date.now;
    const never = new Promise<never>(() => {});
    void queue.run('ours', () => never);
    expect(await queue.run('ours', async () => 'too early')).toBeUndefined();
    const wait = vi.spyOn(scheduler, 'wait').mockReturnValueOnce(never);
    void queue.run('ours', async () => 'never looks again');
    wait.mockRestore();
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 5_001);
    expect(await queue.run('ours', async () => 'now')).toEqual({ result: 'now' });
  });

  it('keeps to its places when work ends that was forgotten', async () => {
    const queue = queueOf({});
    const now = Date.now;
    const [forgotten, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const began: string[] = [];
    const first = queue.run('ours', () => forgotten.promise);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 5_001);
    await queue.run('ours', async () => began.push('one'));
    const two = queue.run('ours', async () => second.promise);
    forgotten.resolve();
    await first;
    const three = queue.run('ours', async () => began.push('three'));
    expect(began).toEqual(['one']);
    second.resolve();
    await Promise.all([two, three]);
    expect(began).toEqual(['one', 'three']);
  });

  it('leaves others half of the time while they are active', async () => {
    const queue = queueOf({ stepMs: 20, pauseMs: halfTheTime(500) });
    const took = async (count: number) => {
      const began = Date.now();
      for (let i = 0; i < count; i++) await queue.run('us', () => scheduler.wait(50));
      return Date.now() - began;
    };
    markActive('us');
    await expect.poll(() => othersAreActive('us')).toBe(false);
    expect(await took(4)).toBeLessThan(4 * 50 + 100);
    markActive('them');
    markActive('us');
    expect(await took(5)).toBeGreaterThanOrEqual(9 * 50 - 20);
  });

  it('remembers no more than a thousand accounts that only rest', async () => {
    const queue = queueOf({ stepMs: 1, pauseMs: () => 1 });
    for (let i = 0; i < 3000; i++) {
      await queue.run(`account ${i}`, async () => {});
      if (i % 500 === 0) await scheduler.wait(2);
    }
    expect(queue.remembered()).toBeLessThanOrEqual(1000);
  });
});

it('a large call is told that others were before it before the time for a call is up', async () => {
  const began = Date.now();
  let now = began;
  vi.spyOn(Date, 'now').mockImplementation(() => now);
  const wait = scheduler.wait.bind(scheduler);
  vi.spyOn(scheduler, 'wait').mockImplementation((ms) => {
    now += ms;
    return wait(0);
  });
  const never = () => new Promise<never>(() => {});
  for (let i = 0; i < 2; i++) void largeTransactions.run('ours', never);
  expect(await largeTransactions.run('ours', async () => 'too late')).toBeUndefined();
  expect(now - began).toBeLessThan(0.9 * longestMs);
});
