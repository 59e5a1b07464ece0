import { expect, it } from 'vitest';
import { crews } from '../../../src/webhooks/deliveries/crew.ts';
import type { Wake } from '../../../src/webhooks/deliveries/queue.ts';

const wake = (accountId: string, webhookId: string, lane = 1): Wake => ({ accountId, webhookId, lane });

it('so many lanes of an account work at a time, and whichever is done takes the next wake that waits', () => {
  const crew = crews(2);
  const [first, second] = [crew.join(wake('ours', 'a')), crew.join(wake('ours', 'b'))];
  for (const waiting of [wake('ours', 'c'), wake('ours', 'd'), wake('ours', 'c')])
    expect(crew.join(waiting)).toBeUndefined();
  expect(crew.join(wake('theirs', 'x'))).toBeDefined();
  expect(second?.isContended()).toBe(true);
  expect(first?.next()).toEqual(wake('ours', 'c'));
  first?.putBack(wake('ours', 'a'));
  expect([second?.next(), second?.next(), second?.next()]).toEqual([
    wake('ours', 'd'),
    wake('ours', 'a'),
    undefined,
  ]);
  expect(second?.isContended()).toBe(false);
  first?.leave();
  expect(crew.join(wake('ours', 'e'))).toBeDefined();
});

it('a lane whose invocation was killed gives up its place after a while', () => {
  const crew = crews(1);
  const now = Date.now;
  crew.join(wake('ours', 'a'));
  expect(crew.join(wake('ours', 'b'))).toBeUndefined();
  try {
    Date.now = () => now() + 46_000;
    const member = crew.join(wake('ours', 'c'));
    expect(member?.next()).toEqual(wake('ours', 'b'));
  } finally {
    Date.now = now;
  }
});
