import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { circuitFirstMs, circuitLongestMs } from '../../src/deliveries/policy.ts';
import { attempted, deliveriesOf, makeDue, minute, settled } from '../support/deliveries.ts';
import { story } from '../support/story.ts';
import { as, operator } from '../support/world.ts';

const tale = story();
const health = (webhookId: string) =>
  env.DB.prepare(
    'select failures, openings, open_until as openUntil from webhook_health where webhook_id = ?1',
  )
    .bind(webhookId)
    .first<{ failures: number; openings: number; openUntil: number }>();
const fail = () => new Response('no', { status: 500 });
const count = (url: string) => tale.heard.got.filter((got) => got.url === url).length;

describe('isolation', () => {
  it('holds at most six calls in flight, and two of a webhook', async () => {
    const hooks = [
      await tale.register(),
      await tale.register(),
      await tale.register(),
      await tale.register(),
    ];
    let inFlight = 0;
    let most = 0;
    const perHook = new Map<string, number>();
    let mostPerHook = 0;
    tale.heard.answers(async ({ url }) => {
      most = Math.max(most, ++inFlight);
      perHook.set(url, (perHook.get(url) ?? 0) + 1);
      mostPerHook = Math.max(mostPerHook, perHook.get(url) ?? 0);
      await scheduler.wait(15);
      inFlight--;
      perHook.set(url, (perHook.get(url) ?? 0) - 1);
      return new Response('ok');
    });
    await tale.happen(10);
    for (const { id } of hooks) await settled(id, 10);
    expect(most).toBe(6);
    expect(mostPerHook).toBe(2);
  });

  it('puts the rest of a webhook back after a time-out, unattempted, and goes on with the others', async () => {
    const [hung, fine] = [await tale.register(), await tale.register()];
    tale.heard.answers(({ url }) => {
      if (url === fine.url) return new Response('ok');
      throw new DOMException('The operation timed out', 'TimeoutError');
    });
    await tale.happen(6);
    await settled(fine.id, 6);
    await attempted(hung.id);
    await vi.waitFor(async () =>
      expect((await deliveriesOf(hung.id)).every((row) => row.claimedUntil === 0)).toBe(true),
    );
    const rows = await deliveriesOf(hung.id);
    expect(rows.filter(({ attempts }) => attempts === 0)).toHaveLength(4);
    expect(rows.filter(({ attempts }) => attempts === 1)).toHaveLength(2);
    expect(rows.find(({ attempts }) => attempts === 1)?.log).toMatchObject([{ result: 'timeout' }]);
    expect(count(hung.url)).toBe(2);
  });

  it('opens a circuit after five failures in a row, and then nothing is sent nor spent', async () => {
    tale.heard.answers(fail);
    const hook = await tale.register();
    await tale.happen(5);
    await vi.waitFor(async () => expect(await health(hook.id)).toMatchObject({ failures: 5, openings: 1 }));
    const openUntil = (await health(hook.id))?.openUntil ?? 0;
    expect(openUntil - Date.now()).toBeGreaterThan(circuitFirstMs - 5000);
    expect(openUntil - Date.now()).toBeLessThanOrEqual(circuitFirstMs);
    await tale.happen(3, 'later');
    await vi.waitFor(async () => {
      const waiting = (await deliveriesOf(hook.id)).filter(({ attempts }) => attempts === 0);
      expect(waiting).toHaveLength(3);
      for (const row of waiting) expect(row.nextAttemptAt).toBeGreaterThanOrEqual(openUntil);
    });
    expect(tale.heard.got).toHaveLength(5);
    const [shown] = (await operator.get<object[]>(`/operator/accounts/${tale.us.accountId}/webhooks`)).data;
    expect(shown).toMatchObject({ id: hook.id, failures: 5, openUntil: new Date(openUntil).toISOString() });
    expect(JSON.stringify((await as(tale.us.apiToken).get('/webhooks')).data)).not.toContain('failures');
  });

  it('lets one probe through, which closes the circuit or doubles it, up to 15 minutes', async () => {
    tale.heard.answers(fail);
    const hook = await tale.register();
    await tale.happen(5);
    await vi.waitFor(async () => expect(await health(hook.id)).toMatchObject({ openings: 1 }));
    let waited = circuitFirstMs;
    for (let openings = 2; openings <= 8; openings++) {
      await makeDue(hook.id);
      await minute();
      await vi.waitFor(async () => expect(await health(hook.id)).toMatchObject({ openings }));
      waited = Math.min(2 * waited, circuitLongestMs);
      const open = ((await health(hook.id))?.openUntil ?? 0) - Date.now();
      expect(open).toBeGreaterThan(waited - 5000);
      expect(open).toBeLessThanOrEqual(waited);
      expect(tale.heard.got).toHaveLength(4 + openings);
    }
    tale.heard.answers(() => new Response('ok'));
    await makeDue(hook.id);
    await minute();
    await vi.waitFor(async () =>
      expect(await health(hook.id)).toMatchObject({ failures: 0, openings: 0, openUntil: 0 }),
    );
    expect(await settled(hook.id, 1, ['delivered'])).toHaveLength(1);
    await makeDue(hook.id);
    await minute();
    await settled(hook.id, 5, ['delivered']);
  });

  it('gives a delivery up that waited five days for a circuit', async () => {
    tale.heard.answers(fail);
    const hook = await tale.register();
    await tale.happen(5);
    await vi.waitFor(async () => expect(await health(hook.id)).toMatchObject({ openings: 1 }));
    await env.DB.prepare('update deliveries set next_attempt_at = 0, give_up_at = 1 where webhook_id = ?1')
      .bind(hook.id)
      .run();
    await minute();
    expect(await settled(hook.id, 5, ['failed'])).toHaveLength(5);
    expect(tale.heard.got).toHaveLength(5);
  });

  it('does not begin a call of a claim that is old, and none once a deletion has returned', async () => {
    const hook = await tale.register();
    let release = false;
    tale.heard.answers(async () => {
      while (!release) await scheduler.wait(5);
      return new Response('ok');
    });
    await tale.happen(20);
    await vi.waitFor(() => expect(tale.heard.got.length).toBeGreaterThan(0));
    const deleting = as(tale.us.apiToken).delete(`/webhook/${hook.id}`);
    await scheduler.wait(300);
    release = true;
    expect((await deleting).status).toBe(200);
    const atReturn = tale.heard.got.length;
    await scheduler.wait(300);
    await makeDue(hook.id);
    await minute();
    await settled(hook.id, 20);
    expect(tale.heard.got).toHaveLength(atReturn);
  }, 20_000);
});
