import { expect, it } from 'vitest';
import { send } from '../../src/platform/queue.ts';
import { listenToLog } from '../support/log.ts';

/** A queue of which the first calls fail, and the sizes of the batches that it was given. */
function failing(times: number) {
  const sizes: number[] = [];
  const sendBatch = async (batch: unknown[]) => {
    sizes.push(batch.length);
    if (sizes.length <= times) throw new Error('Queue send failed: Internal Server Error');
  };
  return { queue: { sendBatch } as unknown as Queue, sizes }; // all that is used of one
}

const messages = Array.from({ length: 150 }, (_, n) => ({ job: `${n}` }));

it('messages that the queue fails once are sent again', async () => {
  const { queue, sizes } = failing(1);
  expect(await send(queue, messages)).toBe(150);
  expect(sizes).toEqual([100, 100, 50]);
});

it('messages that the queue fails twice are left to the cron, with a line in the log', async () => {
  const { lines } = listenToLog();
  const { queue, sizes } = failing(2);
  expect(await send(queue, messages)).toBe(0);
  expect(sizes).toEqual([100, 100]);
  expect(lines('fault')).toMatchObject([{ message: 'Queue refused messages', left: 150 }]);
});
