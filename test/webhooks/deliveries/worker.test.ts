import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { attempted, settled } from '../../support/deliveries.ts';
import { accident } from '../../support/records.ts';
import { story } from '../../support/story.ts';
import { as } from '../../support/world.ts';

const tale = story();

describe('each attempt is a point in Analytics Engine', () => {
  it('of an event that arrived', async () => {
    const write = vi.spyOn(env.ATTEMPTS, 'writeDataPoint');
    const hook = await tale.register();
    await tale.happen();
    await settled(hook.id);
    expect(write.mock.calls).toEqual([
      [
        {
          indexes: [tale.us.accountId],
          blobs: ['event', 'success', hook.id],
          doubles: [expect.any(Number), 1, 200],
        },
      ],
    ]);
  });

  it('of an accident whose receiver is not there', async () => {
    const write = vi.spyOn(env.ATTEMPTS, 'writeDataPoint');
    tale.heard.responds(() => Promise.reject(new Error('connection refused')));
    const hook = await tale.register();
    await as(tale.us.connection.ingestKey).send(accident());
    await attempted(hook.id);
    expect(write.mock.calls).toMatchObject([
      [{ blobs: ['accident', 'connection', hook.id], doubles: [expect.any(Number), 1, 0] }],
    ]);
  });

  it('and when it cannot be written, the delivery arrives all the same', async () => {
    vi.spyOn(env.ATTEMPTS, 'writeDataPoint').mockImplementation(() => {
      throw new Error('Analytics Engine is down');
    });
    const hook = await tale.register();
    await tale.happen();
    expect(await settled(hook.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });
});
