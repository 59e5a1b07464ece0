import { expect, it } from 'vitest';
import { slotsPerAccount } from '../../../src/platform/fair-queue.ts';

it('remembers no more than a thousand accounts whose slots only rest', async () => {
  const slots = slotsPerAccount(1, 1, () => 1);
  for (let i = 0; i < 3000; i++) {
    await slots.run(`account ${i}`, 0, async () => {});
    if (i % 500 === 0) await scheduler.wait(2);
  }
  expect(slots.remembered()).toBeLessThanOrEqual(1000);
});
