import { env } from 'cloudflare:workers';
import {
  type ClaimedDelivery,
  firstWindow,
  leaseMs,
  widestWindow,
} from '#src/core/webhooks/deliveries/policy.ts';
import { callsOf } from '#src/core/webhooks/deliveries/send/calls.ts';
import type { ClaimedWebhook } from '#src/core/webhooks/deliveries/send/claim.ts';
import {
  claim,
  deliveriesOf,
  healthOf,
  rows,
  settled,
  setWindow,
  story,
  unattempted,
} from '#test/support.ts';

const { us, heard, register, happen } = story();
const set = (webhookId: string, column: 'max_in_flight' | 'max_per_second', value: number) =>
  rows(`update webhooks set ${column} = ?2 where id = ?1`, webhookId, value);

/**
 * A receiver that responds to the first calls in a fifth of a second, and holds the others until `together` are under
 * way. Returns how many were under way at the beginning of each.
 */
function heldUntil(together: number, first = 0): number[] {
  const underWay: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  let now = 0;
  heard.responds(async () => {
    const place = underWay.push(++now);
    if (now >= together) resolve();
    await (place <= first ? scheduler.wait(200) : promise);
    now--;
    return new Response('ok');
  });
  return underWay;
}
const most = (counts: number[]) => Math.max(...counts);

describe('the calls that a webhook may have in flight', () => {
  it('start low, double while more is due and answers come in time, and end at fifty', async () => {
    const hook = await register();
    const atFirst = heldUntil(firstWindow);
    await happen(20);
    await settled(hook.id, 20);
    expect(most(atFirst)).toBeLessThanOrEqual(2 * firstWindow);
    heldUntil(1);
    await happen(400, 'later');
    await settled(hook.id, 420);
    expect(await healthOf(hook.id)).toMatchObject({ window: widestWindow });
    const atLast = heldUntil(4 * firstWindow + 1, firstWindow);
    await happen(100, 'last');
    await settled(hook.id, 520);
    expect(most(atLast)).toBeLessThanOrEqual(widestWindow);
  });

  it('are in flight at once for each of an account’s webhooks', async () => {
    const one = await register();
    await unattempted(one.id, () => happen(widestWindow));
    const other = await register();
    await unattempted(other.id, () => happen(widestWindow, 'later'));
    const underWay = heldUntil(2 * widestWindow);
    for (const { id } of [one, other]) await setWindow(id, widestWindow);
    const { accountId } = us;
    const wake = (webhookId: string) => ({ body: { accountId, webhookId, worker: 1 } });
    await env.DELIVERIES.sendBatch([one, other].map(({ id }) => wake(id)));
    for (const { id } of [one, other]) await settled(id, widestWindow, 'delivered');
    expect(most(underWay)).toBe(2 * widestWindow);
  });

  it('never exceed what the operator allows', async () => {
    const hook = await register();
    await set(hook.id, 'max_in_flight', 3);
    const underWay = heldUntil(3);
    await happen(60);
    await settled(hook.id, 60);
    expect(most(underWay)).toBe(3);
  });
});

describe('the calls that a webhook may have in a second', () => {
  it('are as many as the operator allows, a quarter of them at once', async () => {
    const hook = await register();
    await set(hook.id, 'max_per_second', 20);
    const start = Date.now();
    await happen(50);
    await settled(hook.id, 50);
    const calls = (await deliveriesOf(hook.id)).flatMap(({ log }) => log.map(({ at }) => at));
    expect(most(calls) - start).toBeGreaterThan(((50 - 20 / 4) / 20) * 1000 - 50);
  });

  it('count for all its workers together', async () => {
    const hook = await register();
    await set(hook.id, 'max_per_second', 8);
    await unattempted(hook.id, () => happen(10));
    const now = Date.now();
    const claimed: number[] = [];
    for (const ms of [0, 0, 100, 125, 1000])
      claimed.push((await claim(hook.id, 10, now + ms)).claimed.length);
    expect(claimed).toEqual([2, 0, 0, 1, 2]);
  });
});

it('a claim holds no more of a webhook than may be in flight', async () => {
  const hook = await register();
  await unattempted(hook.id, () => happen(12));
  const now = Date.now();
  const claimed = async (at: number) => (await claim(hook.id, 60, at)).claimed.length;
  expect([await claimed(now), await claimed(now)]).toEqual([firstWindow, 0]);
  expect(await claimed(now + leaseMs + 1)).toBe(firstWindow);
});

it.each([true, false])(
  'calls that end while D1 is busy are recorded at once, in time (%s) or not',
  async (inTime) => {
    const calls = callsOf(env, 'hook');
    const settings = JSON.stringify({ url: 'https://localhost', headers: {} });
    // Nothing of it is called.
    const unwanted = { id: 'd', attempts: 0, type: 2, data: '{}', wanted: false };
    const deliveries = Array(2).fill(unwanted) as ClaimedDelivery[];
    calls.start({ settings } as ClaimedWebhook, deliveries, Date.now() + 1000);
    await scheduler.wait(20);
    expect(calls.isIdle()).toBe(false);
    const inVain = scheduler.wait(300).then(() => 'in vain');
    expect(await Promise.race([calls.progress(inTime), inVain])).toBeUndefined();
    expect(calls.takeEnded()).toHaveLength(2);
  },
);
