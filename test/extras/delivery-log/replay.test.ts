import { firstIdAt, newId } from '#src/core/platform/db/ids.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import { countReplayable, replay } from '#src/extras/delivery-log/replay.ts';
import { deliveriesOf, settled } from '#test/support/deliveries.ts';
import { rows, value } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { story } from '#test/support/story.ts';
import { invalid, operator, type WebhookOut } from '#test/support/world.ts';

const { us, heard, register, happen } = story();
const caller = () => ({ accountId: us.accountId, operator: true }) as const;

/** A webhook with so many deliveries that its receiver did not want; it wants what comes from here on. */
const withFailed = async (count: number) => {
  heard.returns(410);
  const hook = await register();
  await happen(count);
  await settled(hook.id, count, ['failed']);
  heard.returns(200);
  return hook;
};
const change = (hook: WebhookOut, changes: object) =>
  us.api.put(`/webhook/${hook.id}`, { ...hook, ...changes });
const replayOf = (hook: { id: string }, body: object = {}) =>
  operator.post(`/operator/webhooks/${hook.id}/replay`, body);
const countOf = async (hook: { id: string }, query = '') =>
  (await operator.get(`/operator/webhooks/${hook.id}/replay?${query}`)).data;
const nothing = { count: 0, more: false, tooOld: 0 };

const age = async (webhookId: string, ms: number) => {
  for (const { id } of await deliveriesOf(webhookId))
    await rows('update deliveries set id = ?1 where id = ?2', newId(Date.now() - ms), id);
};

describe('a replay of one delivery', () => {
  const replayIt = (id: string) => operator.post(`/operator/deliveries/${id}/replay`, {});
  const show = async (id: string) => (await operator.get(`/operator/deliveries/${id}`)).data;

  it('starts its schedule anew, with its Delivery-Id and log, also when delivered', async () => {
    const hook = await withFailed(4);
    const [{ id } = { id: '' }] = await deliveriesOf(hook.id);
    expect((await replayIt(id)).data).toEqual({ replayed: 1, more: false });
    await settled(hook.id, 1, ['delivered']);
    expect(heard.got.at(-1)?.headers['delivery-id']).toBe(id);
    const log = [
      { at: expect.stringMatching(/Z$/), result: 'status', status: 410, answer: '' },
      { result: 'success', status: 200, durationMs: expect.any(Number) },
    ];
    expect(await show(id)).toMatchObject({ status: 'delivered', attempts: 1, log });
    expect((await replayIt(id)).data).toEqual({ replayed: 1, more: false });
    await expect
      .poll(() => show(id))
      .toMatchObject({ status: 'delivered', attempts: 1, log: [...log, log[1]] });
    expect(heard.got.slice(-2).map(({ headers }) => headers['delivery-id'])).toEqual([id, id]);
  });

  it('that is unknown, too old, or no longer subscribed to is refused', async () => {
    expect(await replayIt('nope')).toMatchObject(invalid('Unknown delivery'));
    const hook = await withFailed(1);
    await change(hook, { notificationTypes: [1] });
    const [{ id } = { id: '' }] = await deliveriesOf(hook.id);
    expect((await replayIt(id)).message).toBe(
      'The webhook does not subscribe to this notification any more',
    );
    await change(hook, {});
    await age(hook.id, 20 * dayMs + 1);
    const [{ id: old } = { id: '' }] = await deliveriesOf(hook.id);
    expect((await replayIt(old)).message).toBe('This delivery is too old to be replayed');
    expect(await deliveriesOf(hook.id)).toMatchObject([{ status: 'failed' }]);
  });
});

describe('a replay of a webhook', () => {
  it('leaves out what the webhook does not subscribe to, and sends it once it does', async () => {
    const hook = await withFailed(2);
    const [first] = await deliveriesOf(hook.id);
    await rows(`update deliveries set status = 'cancelled' where id = ?1`, first?.id);
    await change(hook, { connectionIds: [] });
    expect(await countOf(hook)).toEqual(nothing);
    expect((await replayOf(hook)).data).toMatchObject({ replayed: 0 });
    expect((await replayOf(hook, { includeDelivered: true })).data).toMatchObject({ replayed: 0 });
    await change(hook, {});
    expect(await countOf(hook)).toMatchObject({ count: 2 });
    expect((await replayOf(hook)).data).toMatchObject({ replayed: 2 });
    await settled(hook.id, 2, ['delivered']);
  });

  it('leaves out what is too old, and counts it', async () => {
    const hook = await withFailed(3);
    await age(hook.id, 20 * dayMs + 1000);
    for (const all of ['', 'includeDelivered=true'])
      expect(await countOf(hook, all)).toEqual({ count: 0, more: false, tooOld: 3 });
    const until = new Date(Date.now() - 25 * dayMs).toISOString();
    expect(await countOf(hook, `until=${until}`)).toEqual(nothing);
    expect((await replayOf(hook, { includeDelivered: true })).data).toMatchObject({ replayed: 0 });
    const [first] = await deliveriesOf(hook.id);
    const young = newId(Date.now() - 20 * dayMs + dayMs / 2);
    await rows('update deliveries set id = ?2 where id = ?1', first?.id, young);
    expect(await countOf(hook)).toEqual({ count: 1, more: false, tooOld: 2 });
  });
});

describe('however much a webhook has stored', () => {
  const stored = 25_000;
  const fill = async (status: string) => {
    const { id } = await register();
    const first = firstIdAt(Date.now());
    await rows(
      `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?4)
       insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       select ?1, substr(?2, 1, 24) || printf('%012x', i), ?3, ?1 || i, 0, ?5, 0 from n`,
      ...[id, first, us.accountId, stored, status],
    );
    await rows(
      `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
       select event_id, level, 2, account_id, ?2, '{}', 0 from deliveries where webhook_id = ?1`,
      ...[id, us.connection.id],
    );
    return id;
  };

  it.each([
    ['failed', false],
    ['delivered', true],
  ])(
    'of %s ones, a count and a replay read and write a bounded number of rows',
    async (status, includeDelivered) => {
      const id = await fill(status);
      const counting = metered();
      const counted = await countReplayable(counting.env, caller(), id, { includeDelivered });
      expect(counted).toEqual({ count: 5000, more: true, tooOld: 0 });
      expect(counting.cost).toMatchObject({ trips: 1, written: 0, queued: 0 });
      expect(counting.cost.read).toBeLessThanOrEqual(6 * 5000);
      const replaying = metered();
      const { next } = await replay(replaying.env, caller(), id, { includeDelivered });
      expect(replaying.cost).toMatchObject({ trips: 5, queued: 1 });
      expect(replaying.cost.read).toBeLessThanOrEqual(13 * 5000);
      expect(replaying.cost.written).toBeLessThanOrEqual(3 * 5000);
      const pending = `webhook_id = ?1 and status = 'pending' and id <= ?2`;
      expect(await value(`select count(*) from deliveries where ${pending}`, id, next)).toBe(5000);
      await rows('delete from deliveries where webhook_id = ?1', id);
    },
  );
});
