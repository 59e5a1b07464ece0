import { env } from 'cloudflare:workers';
import { through } from '#src/core/platform/db/through.ts';
import { countReplayable, replay } from '#src/extras/delivery-log/replay.ts';
import {
  ago,
  dayMs,
  deliveriesOf,
  firstIdAt,
  metered,
  newId,
  operator,
  rows,
  settled,
  story,
  value,
  type WebhookOut,
} from '#test/support.ts';

const { us, heard, register, happen } = story();
const caller = () => ({ accountId: us.accountId, operator: true }) as const;

/** A webhook with so many deliveries that its receiver did not want; it wants what comes from here on. */
const withFailed = async (count: number) => {
  heard.returns(410);
  const hook = await register();
  await happen(count);
  await settled(hook.id, count, 'failed');
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

it('a delivery that is replayed keeps its first attempt and the latest twenty, and counts the others', async () => {
  const hook = await withFailed(1);
  heard.returns(410);
  const path = `/operator/deliveries/${(await deliveriesOf(hook.id))[0]?.id}`;
  for (let attempts = 2; attempts <= 25; attempts++) {
    await operator.post(`${path}/replay`, {});
    await expect.poll(() => heard.got, { timeout: 30_000 }).toHaveLength(attempts);
    await settled(hook.id, 1, 'failed');
  }
  type Shown = { log: { at: string }[]; attemptsOmitted: number };
  const { log, attemptsOmitted } = (await operator.get<Shown>(path)).data;
  expect([log.length, attemptsOmitted]).toEqual([21, 4]);
  const times = log.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  const sent = heard.got.map(({ body }) => Date.parse(body.timestamp));
  for (const [i, at] of [sent[0], ...sent.slice(-20)].entries())
    expect(Math.abs(Date.parse(times[i] ?? '') - (at ?? 0))).toBeLessThan(50);
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
    await settled(hook.id, 2, 'delivered');
  });

  it('leaves out what is too old, and counts it', async () => {
    const hook = await withFailed(3);
    await age(hook.id, 20 * dayMs + 1000);
    for (const all of ['', 'includeDelivered=true'])
      expect(await countOf(hook, all)).toEqual({ count: 0, more: false, tooOld: 3 });
    const until = ago(25 * dayMs);
    expect(await countOf(hook, `until=${until}`)).toEqual(nothing);
    expect((await replayOf(hook, { includeDelivered: true })).data).toMatchObject({ replayed: 0 });
    const [first] = await deliveriesOf(hook.id);
    const young = newId(Date.now() - 20 * dayMs + dayMs / 2);
    await rows('update deliveries set id = ?2 where id = ?1', first?.id, young);
    expect(await countOf(hook)).toEqual({ count: 1, more: false, tooOld: 2 });
  });
});

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
  'however many %s deliveries are stored, a count and a replay read and write a bounded number of rows',
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

it('a replay that D1 interrupts says how many it has replayed, and where to go on', async () => {
  const id = await fill('failed');
  let chunks = 0;
  const DB = through(env.DB, async (run, statements) => {
    const isChunk = statements.some(({ text }) => text.startsWith('update "deliveries"'));
    if (isChunk && ++chunks === 2)
      throw new Error('D1 DB exceeded its CPU time limit and was reset.');
    return run();
  });
  const { next, ...first } = await replay({ ...env, DB }, caller(), id, {});
  expect(first).toEqual({ replayed: 1000, more: true });
  expect(await replay(env, caller(), id, { after: next })).toMatchObject({ replayed: 5000 });
  await rows('delete from deliveries where webhook_id = ?1', id);
});
