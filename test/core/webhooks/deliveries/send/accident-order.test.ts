import { levelWaitMs } from '#src/core/webhooks/deliveries/policy.ts';
import { ACCIDENT } from '#src/core/webhooks/notifications/types.ts';
import {
  accident,
  attempted,
  rows,
  safetyEvent,
  settled,
  story,
  tryAgain,
  vehicle,
} from '#test/support.ts';

const { heard, send, register } = story();
const happen = (...levels: number[]) =>
  send(...levels.map((notificationLevel) => accident({ notificationLevel })));
const levels = () => heard.got.map(({ body }) => body.data.notificationLevel);
const due = () =>
  rows<{ at: number }>(
    `select next_attempt_at as at from deliveries where status = 'pending' order by level`,
  );

describe('the levels of an accident', () => {
  it('wait a minute at most', async () => {
    const hook = await register();
    heard.returns(400);
    await happen(1);
    await attempted(hook.id);
    await happen(2);
    const [, { at = 0 } = {}] = await due();
    const wait = at - Date.now();
    expect(wait).toBeGreaterThan(levelWaitMs - 5000);
    expect(wait).toBeLessThanOrEqual(levelWaitMs);
    heard.responds(
      ({ body }) => new Response(null, { status: body.data.notificationLevel === 1 ? 400 : 204 }),
    );
    await tryAgain(hook.id);
    await settled(hook.id, 1, 'delivered');
  });

  it('do not wait for one that waits for a minute, nor for one that has ended', async () => {
    const hook = await register();
    heard.returns(400);
    await happen(1);
    await attempted(hook.id);
    await rows('update notifications set created_at = created_at - ?1', levelWaitMs + 1000);
    await happen(2);
    await expect.poll(levels).toEqual([1, 2]);
    heard.returns(410);
    await tryAgain(hook.id);
    await settled(hook.id, 2, 'failed');
    heard.returns(200);
    await happen(3);
    await settled(hook.id, 1, 'delivered');
  });

  it('are not held up by other webhooks or accidents, nor again when they are repeated', async () => {
    const [slow, quick] = [await register(), await register()];
    const release = heard.holds(slow.url);
    await happen(1);
    await happen(2);
    await send(accident({ sourceId: 'another', notificationLevel: 2 }));
    await settled(quick.id, 3);
    const before = await due();
    await happen(1, 2);
    expect(await due()).toHaveLength(before.length);
    release();
    await settled(slow.id, 3);
  });
});

it('events that come with an accident are sent as well, by other workers', async () => {
  const hook = await register();
  await send(vehicle());
  await send(accident(), safetyEvent(), safetyEvent({ sourceId: 'more' }));
  await settled(hook.id, 3);
  expect(heard.got.filter(({ body }) => body.type === ACCIDENT)).toHaveLength(1);
});
