import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { settled } from '../../support/deliveries.ts';
import { accident } from '../../support/records.ts';
import { story } from '../../support/story.ts';
import { as } from '../../support/world.ts';

const tale = story();

it('each attempt is a point in Analytics Engine', async () => {
  const write = vi.spyOn(env.ATTEMPTS, 'writeDataPoint');
  const hook = await tale.register();
  await tale.happen();
  await settled(hook.id);
  tale.heard.responds(() => Promise.reject(new Error('connection refused')));
  await as(tale.us.connection.ingestKey).send(accident());
  await vi.waitFor(() => expect(write).toHaveBeenCalledTimes(2));
  const doubles = (status: number) => [expect.any(Number), 1, status];
  expect(write.mock.calls.flat()).toEqual([
    { indexes: [tale.us.accountId], blobs: ['event', 'success', hook.id], doubles: doubles(200) },
    { indexes: [tale.us.accountId], blobs: ['accident', 'connection', hook.id], doubles: doubles(0) },
  ]);
});

it('a delivery arrives though its point cannot be written', async () => {
  vi.spyOn(env.ATTEMPTS, 'writeDataPoint').mockImplementation(() => {
    throw new Error('Analytics Engine is down');
  });
  const hook = await tale.register();
  await tale.happen();
  expect(await settled(hook.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
});
