import { describe, expect, it, vi } from 'vitest';
import { newId } from '../../../../src/platform/db/ids.ts';
import { firstWindow, leaseMs } from '../../../../src/webhooks/deliveries/policy.ts';
import { deliveriesOf, settled } from '../../../support/deliveries.ts';
import { addRows, rows } from '../../../support/rows.ts';
import { minute } from '../../../support/service.ts';
import { story } from '../../../support/story.ts';

const tale = story();

/** Whether a new event's first attempt is made by the call that brings it in. */
async function isMadeAtOnce(webhookId: string): Promise<boolean> {
  const release = tale.heard.holds();
  await tale.happen(1, crypto.randomUUID());
  await vi.waitFor(() => expect(tale.heard.got).not.toEqual([]));
  const [newest] = (await deliveriesOf(webhookId)).slice(-1);
  release();
  await settled(webhookId);
  return newest?.nextAttemptAt === null;
}

describe('the call that brings an event in', () => {
  it('makes the first attempt of its delivery, which is in no index meanwhile', async () => {
    const hook = await tale.register();
    expect(await isMadeAtOnce(hook.id)).toBe(true);
  });

  it.each([
    [
      'has got a hundred within half a minute',
      async (webhook_id: string) => {
        const ours = { webhook_id, account_id: tale.us.accountId, status: 'delivered' };
        await addRows('deliveries', 101, () => ours);
      },
    ],
    ['has a limit', (id: string) => rows('update webhooks set max_in_flight = 50 where id = ?1', id)],
  ])('leaves it to a worker when the webhook %s', async (_, arrange) => {
    const hook = await tale.register();
    await arrange(hook.id);
    expect(await isMadeAtOnce(hook.id)).toBe(false);
  });

  it('leaves it to a worker when D1 runs its transaction late, for then the sweep may have passed', async () => {
    const hook = await tale.register();
    const early = Date.now() - 6_000;
    vi.spyOn(Date, 'now').mockImplementation(() => early);
    expect(await isMadeAtOnce(hook.id)).toBe(false);
  });
});

it('however many calls bring events in at a time, five more than the window are under way', async () => {
  const hook = await tale.register();
  const release = tale.heard.holds();
  await Promise.all(Array.from({ length: 30 }, (_, i) => tale.happen(1, `of call ${i}, `)));
  await vi.waitFor(() => expect(tale.heard.got.length).toBeGreaterThan(firstWindow));
  await scheduler.wait(500);
  expect(tale.heard.got.length).toBeLessThanOrEqual(2 * firstWindow);
  release();
  await settled(hook.id, 30);
  expect(new Set(tale.heard.got.map(({ headers }) => headers['delivery-id'])).size).toBe(30);
  expect(tale.heard.got).toHaveLength(30);
});

it('what a killed call had claimed is attempted once its claim has lapsed, and not before', async () => {
  const hook = await tale.register();
  await tale.happen();
  await settled(hook.id);
  const killed = (madeAt: number) =>
    rows(
      `update deliveries set id = ?2, status = 'pending', attempts = 0, log = '[]', next_attempt_at = null,
         claimed_until = ?3 where webhook_id = ?1`,
      hook.id,
      newId(madeAt),
      madeAt + leaseMs,
    );
  await killed(Date.now());
  await minute();
  await scheduler.wait(100);
  expect(tale.heard.got).toHaveLength(1);
  await killed(Date.now() - leaseMs - 1000);
  await minute();
  await settled(hook.id);
  expect(tale.heard.got).toHaveLength(2);
});
