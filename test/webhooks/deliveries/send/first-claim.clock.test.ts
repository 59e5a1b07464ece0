import { firstWindow } from '../../../../src/webhooks/deliveries/policy.ts';
import { deliveriesOf, settled } from '../../../support/deliveries.ts';
import { addRows, rows } from '../../../support/rows.ts';
import { story } from '../../../support/story.ts';

const { us, heard, register, happen } = story();

/** Whether a new event's first attempt is made by the call that brings it in. */
async function isMadeAtOnce(webhookId: string): Promise<boolean> {
  const release = heard.holds();
  await happen(1, crypto.randomUUID());
  await expect.poll(() => heard.got).not.toEqual([]);
  const [newest] = (await deliveriesOf(webhookId)).slice(-1);
  release();
  await settled(webhookId);
  return newest?.nextAttemptAt === null;
}

describe('the call that brings an event in', () => {
  it('makes the first attempt of its delivery, which is in no index meanwhile', async () => {
    const hook = await register();
    expect(await isMadeAtOnce(hook.id)).toBe(true);
  });

  it.each([
    [
      'has got a hundred within half a minute',
      async (webhook_id: string) => {
        const ours = { webhook_id, account_id: us.accountId, status: 'delivered' };
        await addRows('deliveries', 101, () => ours);
      },
    ],
    ['has a limit', (id: string) => rows('update webhooks set max_in_flight = 50 where id = ?1', id)],
  ])('leaves it to a worker when the webhook %s', async (_, arrange) => {
    const hook = await register();
    await arrange(hook.id);
    expect(await isMadeAtOnce(hook.id)).toBe(false);
  });

  it('leaves it to a worker when D1 is late, for then the sweep may have passed', async () => {
    const hook = await register();
    const early = Date.now() - 6_000;
    vi.spyOn(Date, 'now').mockImplementation(() => early);
    expect(await isMadeAtOnce(hook.id)).toBe(false);
  });
});

it('however many calls bring events in, five more than the window are under way', async () => {
  const hook = await register();
  const release = heard.holds();
  await Promise.all(Array.from({ length: 30 }, (_, i) => happen(1, `of call ${i}, `)));
  await expect.poll(() => heard.got.length).toBeGreaterThan(firstWindow);
  await scheduler.wait(500);
  expect(heard.got.length).toBeLessThanOrEqual(2 * firstWindow);
  release();
  await settled(hook.id, 30);
  expect(new Set(heard.got.map(({ headers }) => headers['delivery-id'])).size).toBe(30);
  expect(heard.got).toHaveLength(30);
});
