import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { circuitFirstMs, circuitLongestMs, giveUpAfterMs } from '../../../src/webhooks/deliveries/policy.ts';
import { giveUp } from '../../../src/webhooks/deliveries/sweep.ts';
import { ACCIDENT } from '../../../src/webhooks/notifications/types.ts';
import { deliveriesOf, makeDue, settled } from '../../support/deliveries.ts';
import { accident } from '../../support/records.ts';
import { minute } from '../../support/service.ts';
import { story } from '../../support/story.ts';
import { operator } from '../../support/world.ts';

const tale = story();
const health = (webhookId: string) =>
  env.DB.prepare(
    'select failures, openings, open_until as openUntil from webhook_health where webhook_id = ?1',
  )
    .bind(webhookId)
    .first<{ failures: number; openings: number; openUntil: number }>();
const fail = () => new Response('no', { status: 500 });
const count = (url: string) => tale.heard.got.filter((got) => got.url === url).length;

/** A webhook whose receiver has failed five times in a row. */
const withOpenCircuit = async () => {
  tale.heard.responds(fail);
  const hook = await tale.register();
  await tale.happen(5);
  await vi.waitFor(async () => expect(await health(hook.id)).toMatchObject({ failures: 5, openings: 1 }));
  return hook;
};

describe('isolation', () => {
  it('sends an accident before the events that wait', async () => {
    const hook = await tale.register();
    tale.heard.responds(async () => {
      await scheduler.wait(100);
      return new Response('ok');
    });
    await tale.happen(400);
    await vi.waitFor(() => expect(tale.heard.got.length).toBeGreaterThan(20));
    await tale.send(accident());
    const sent = tale.heard.got.length;
    await vi.waitFor(() => expect(tale.heard.got.some(({ body }) => body.type === ACCIDENT)).toBe(true));
    const place = tale.heard.got.findIndex(({ body }) => body.type === ACCIDENT);
    // Behind those that are claimed already, and before the other three hundred.
    expect(place - sent).toBeLessThanOrEqual(100);
    await settled(hook.id, 401);
  });

  it('opens a circuit after five failures in a row, and then nothing is sent nor spent', async () => {
    const hook = await withOpenCircuit();
    const openUntil = (await health(hook.id))?.openUntil ?? 0;
    expect(openUntil - Date.now()).toBeGreaterThan(circuitFirstMs - 5000);
    expect(openUntil - Date.now()).toBeLessThanOrEqual(circuitFirstMs);
    await tale.happen(3, 'later');
    await minute();
    await scheduler.wait(200);
    expect((await deliveriesOf(hook.id)).filter(({ attempts }) => attempts === 0)).toHaveLength(3);
    expect(count(hook.url)).toBe(5);
    const [shown] = (await operator.get<object[]>(`/operator/accounts/${tale.us.accountId}/webhooks`)).data;
    expect(shown).toMatchObject({ id: hook.id, failures: 5, openUntil: new Date(openUntil).toISOString() });
    expect(JSON.stringify((await tale.api().get('/webhooks')).data)).not.toContain('failures');
  });

  it('lets one probe through, which closes the circuit or doubles it, up to 15 minutes', async () => {
    const hook = await withOpenCircuit();
    let waited = circuitFirstMs;
    for (let openings = 2; openings <= 8; openings++) {
      await makeDue(hook.id);
      await minute();
      await vi.waitFor(async () => expect(await health(hook.id)).toMatchObject({ openings }));
      waited = Math.min(2 * waited, circuitLongestMs);
      const open = ((await health(hook.id))?.openUntil ?? 0) - Date.now();
      expect(open).toBeGreaterThan(waited - 5000);
      expect(open).toBeLessThanOrEqual(waited);
      expect(count(hook.url)).toBe(4 + openings);
    }
    tale.heard.returns(200);
    await makeDue(hook.id);
    await minute();
    await vi.waitFor(async () =>
      expect(await health(hook.id)).toMatchObject({ failures: 0, openings: 0, openUntil: 0 }),
    );
    // The others follow at once.
    await settled(hook.id, 5, ['delivered']);
  });

  it('gives a delivery up that waited five days for a circuit', async () => {
    const hook = await withOpenCircuit();
    expect(await giveUp(env, Date.now() + giveUpAfterMs - 60_000)).toBe(0);
    expect(await giveUp(env, Date.now() + giveUpAfterMs + 60_000)).toBe(5);
    expect(await settled(hook.id, 5, ['failed'])).toHaveLength(5);
    expect(count(hook.url)).toBe(5);
  });
});
