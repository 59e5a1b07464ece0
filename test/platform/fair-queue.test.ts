import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../src/platform/db/ids.ts';
import { inTurnOrRefuse, maxWaiting, noteActivity } from '../../src/platform/db/turns.ts';
import { Refusal } from '../../src/platform/errors.ts';
import { slotsPerAccount } from '../../src/platform/fair-queue.ts';

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));

describe('slots of an account', () => {
  it('let so many work at a time, in order of arrival, and others as if nobody did', async () => {
    const slots = slotsPerAccount(2, 5);
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
    const all = times(6, (i) => slots.run('ours', 5000, work(i)));
    expect(slots.waiting('ours')).toBe(4);
    expect(await slots.run('theirs', 0, async () => 'at once')).toBe('at once');
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(began).toEqual([0, 1, 2, 3, 4, 5]);
    expect(most).toBe(2);
    expect(slots.waiting('ours')).toBe(0);
  });

  it('are given up on after a while, and become free when work fails', async () => {
    const slots = slotsPerAccount(1, 5);
    const until = Promise.withResolvers<void>();
    const first = slots.run('ours', 0, () => until.promise);
    expect(await slots.run('ours', 30, async () => 'never')).toBeUndefined();
    until.reject(new Error('D1 is down'));
    await expect(first).rejects.toThrow('D1 is down');
    expect(await slots.run('ours', 0, async () => 'now')).toBe('now');
  });
});

it('a slot whose holder was killed becomes free, and one in line who was is passed over', async () => {
  const slots = slotsPerAccount(1, 5);
  const now = Date.now;
  const never = new Promise<never>(() => {});
  void slots.run('ours', 0, () => never);
  expect(await slots.run('ours', 20, async () => 'too early')).toBeUndefined();
  const wait = vi.spyOn(scheduler, 'wait').mockReturnValueOnce(never);
  void slots.run('ours', 60_000, async () => 'never looks again');
  wait.mockRestore();
  try {
    Date.now = () => now() + 5_001;
    expect(await slots.run('ours', 0, async () => 'now')).toBe('now');
  } finally {
    Date.now = now;
  }
});

describe('large transactions', () => {
  const took = async (accountId: string, count: number, ms: number) => {
    const began = Date.now();
    for (let i = 0; i < count; i++) await inTurnOrRefuse(accountId, () => scheduler.wait(ms));
    return Date.now() - began;
  };

  it('are followed by a rest as long as themselves while another account is active', async () => {
    const [us, them] = [newId(), newId()];
    noteActivity(us);
    expect(await took(us, 4, 50)).toBeLessThan(4 * 50 + 100);
    noteActivity(them);
    noteActivity(us);
    expect(await took(us, 5, 50)).toBeGreaterThanOrEqual(9 * 50 - 20);
  });

  it('are refused when too many of the account wait', async () => {
    const us = newId();
    const until = Promise.withResolvers<void>();
    const all = times(maxWaiting + 1, () => inTurnOrRefuse(us, () => until.promise));
    await expect(inTurnOrRefuse(us, async () => {})).rejects.toThrow(Refusal);
    expect(await inTurnOrRefuse(newId(), async () => 'not ours')).toBe('not ours');
    until.resolve();
    await Promise.all(all);
  });
});
