import { env } from 'cloudflare:workers';
import { firstWindow } from '#src/core/webhooks/deliveries/policy.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import { attempted, deliveriesOf, makeDue, pauseFor, settled } from '#test/support/deliveries.ts';
import { accident } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { story } from '#test/support/story.ts';
import { operator } from '#test/support/world.ts';

const { us, heard, send, register, happen } = story();
type Sent = { eventId: string; deliveryIds: string[] };

const post = <T>(path: string, body?: object) => us.api.post<T>(path, body);
const noted = async () => {
  const path = `/operator/accounts/${us.accountId}/audit`;
  const { data } = await operator.get<{ actor: string; subject: string; fields: string[] }[]>(path);
  return data
    .toReversed()
    .flatMap(({ actor, subject, fields }) =>
      subject === 'webhook' ? [[actor, ...fields].join(' ')] : [],
    );
};
const bodies = () => heard.got.map(({ body }) => body);

describe('a replay by API', () => {
  it('counts what a webhook has missed, and replays it, though its receiver is paused', async () => {
    heard.responds(() => new Response('gone', { status: 410 }));
    const { id } = await register();
    await happen(3);
    await settled(id, 3, ['failed']);
    heard.responds(() => new Response('ok'));
    const replay = (body: object) => post(`/webhook/${id}/replay`, body);
    const counted = { count: 3, more: false };
    expect(await replay({ dryRun: true })).toMatchObject({ message: 'Counted', data: counted });
    expect((await replay({ to: '2026-01-01' })).data).toEqual({ count: 0, more: false });
    expect(await deliveriesOf(id)).toMatchObject(Array(3).fill({ status: 'failed' }));
    await pauseFor(id, 60_000);
    const replayed = await replay({ from: '2026-01-01T00:00:00Z' });
    expect(replayed).toMatchObject({ message: 'Replayed', data: counted });
    await settled(id, 3, ['delivered']);
    expect((await replay({})).data).toEqual({ count: 0, more: false });
    expect((await replay({ includeDelivered: true, dryRun: true })).data).toMatchObject({
      count: 3,
    });
    expect(await noted()).toEqual(['token', 'token replayed']);
  });

  it('of one delivery leads to it; a pending one can be sent now', async () => {
    heard.responds(() => new Response('no', { status: 500 }));
    const hook = await register();
    await happen(1);
    const { id } = await attempted(hook.id);
    const path = `/deliveries/${id}`;
    heard.responds(() => new Response('ok'));
    await pauseFor(hook.id, 60_000);
    expect(await post(`${path}/send`)).toMatchObject({ message: 'Delivery is due', data: { id } });
    await settled(hook.id, 1, ['delivered']);
    expect((await post(`${path}/replay`)).data).toMatchObject({
      id,
      attempts: 0,
      status: 'pending',
    });
    await attempted(hook.id);
    expect((await us.api.get(path)).data).toMatchObject({
      ...{ id, webhookId: hook.id, payload: { vehicleName: 'Truck 1' } },
      lastAnswer: { status: 200, kind: 'success' },
      attemptLog: [
        { status: 500, kind: 'status', answer: 'no', durationMs: expect.any(Number) },
        { status: 200 },
        { status: 200 },
      ],
      attemptsOmitted: 0,
    });
  });
});

it('a test by API sends an event, a level of an accident, or all levels, marked as tests', async () => {
  const { id } = await register();
  const test = async (body: object) => (await post<Sent>(`/webhook/${id}/test`, body)).data;
  const event = await test({ type: 2 });
  const level = await test({ type: 1, level: 2 });
  await settled(id, 2, ['delivered']);
  expect(bodies()).toMatchObject([
    { type: 2, data: { eventId: event.eventId, vehicleVin: 'TEST0000000000000' } },
    { type: 1, data: { eventId: level.eventId, notificationLevel: 2, tSP: 'TEST' } },
  ]);
  expect((await deliveriesOf(id)).map((delivery) => delivery.id)).toEqual([
    ...event.deliveryIds,
    ...level.deliveryIds,
  ]);
  const began = Date.now();
  expect((await test({ type: 1 })).deliveryIds).toHaveLength(3);
  await settled(id, 3, ['delivered']);
  // The others wait for their time, not for the level before.
  const waiting = (await deliveriesOf(id)).filter(({ status }) => status === 'pending');
  const [second = 0, third = 0] = waiting.map(({ nextAttemptAt }) => nextAttemptAt - began).sort();
  expect([second >= 3000, third >= 6000]).toEqual([true, true]);
  expect(await noted()).toEqual(['token', 'token tested', 'token tested', 'token tested']);
});

describe('the state of webhooks, for those who ask', () => {
  const states = async (path: string) => {
    const { data } = await us.api.get<{ state?: object } | { state?: object }[]>(path);
    return [data].flat().map(({ state }) => state);
  };

  it('says which are paused, and which wait until when', async () => {
    const [active, waiting, paused] = [await register(), await register(), await register()];
    const until = Date.now() + 60_000;
    await pauseFor(waiting.id, 60_000);
    await rows('update webhook_health set open_until = ?1', until);
    await us.api.post(`/webhook/${paused.id}/pause`, {});
    const nextAttemptAt = new Date(until).toISOString();
    const expected = [
      { status: 'active', failures: 0, nextAttemptAt: null },
      { status: 'waiting', failures: 9, nextAttemptAt },
      { status: 'paused', failures: 0, nextAttemptAt: null },
    ];
    expect(await states('/webhooks?include=state')).toEqual(expected);
    expect(await states(`/webhook/${active.id.toUpperCase()}?include=state`)).toEqual([
      expected[0],
    ]);
    expect(await states('/webhooks')).toEqual([undefined, undefined, undefined]);
    const { data } = await us.api.get<{ state: object }>(`/webhook/${active.id}?include=state`);
    expect((await us.api.put(`/webhook/${active.id}`, data)).status).toBe(200);
  });

  it.each([
    ['include=status', /^has an unknown value, did you mean state\?$/],
    ['include=x', /^has an unknown value; known are state$/],
    ['includes=state', /did you mean include\?$/],
  ])('is refused: %s', async (query, message) => {
    const errors = [{ message: expect.stringMatching(message) }];
    expect(await us.api.get(`/webhooks?${query}`)).toMatchObject({ status: 400, errors });
  });
});

describe('a webhook that its account has paused', () => {
  const pausedAt = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  const listed = async () => (await us.api.get<object[]>('/webhooks')).data;

  it('keeps what there is to send, and sends it once it is resumed, accidents first', async () => {
    const { id } = await register();
    const before = await listed();
    expect(await post(`/webhook/${id}/pause`)).toMatchObject({
      message: 'Webhook paused',
      data: { id, pausedAt: expect.stringMatching(pausedAt) },
    });
    await happen(9);
    await send(accident());
    expect(await sweep(env, Date.now() + 60_000)).toMatchObject({ woken: 0 });
    expect(heard.got).toEqual([]);
    const waiting = { status: 'pending', attempts: 0, lastAnswer: null };
    expect((await us.api.get('/deliveries')).data).toMatchObject(Array(10).fill(waiting));
    expect(await post(`/webhook/${id}/resume`)).toMatchObject({ message: 'Webhook resumed' });
    await settled(id, 10, ['delivered']);
    expect(bodies().findIndex(({ type }) => type === 1)).toBeLessThan(firstWindow);
    expect(await listed()).toEqual(before);
  });

  it('stays paused when it is updated or paused again, which is not noted twice', async () => {
    const hook = await register();
    const paused = (await post(`/webhook/${hook.id}/pause`)).data;
    expect((await post(`/webhook/${hook.id}/pause`)).data).toEqual(paused);
    const updated = await us.api.put(`/webhook/${hook.id}`, hook);
    expect(updated.data).toEqual(paused);
    expect(await listed()).toEqual([paused]);
    const resumed = [
      await post(`/webhook/${hook.id}/resume`),
      await post(`/webhook/${hook.id}/resume`),
    ];
    expect(resumed.map(({ data }) => data)).toEqual([hook, hook]);
    expect(await noted()).toEqual(['token', 'token paused', 'token', 'token resumed']);
  });

  it('has what is replayed wait', async () => {
    const { id } = await register();
    await happen(1);
    const [delivery] = await settled(id, 1, ['delivered']);
    await post(`/webhook/${id}/pause`);
    expect((await post(`/deliveries/${delivery?.id}/replay`)).data).toMatchObject({
      status: 'pending',
    });
    expect(heard.got).toHaveLength(1);
  });

  it('is called at once when it is resumed, though its receiver had failed for long', async () => {
    const { id } = await register();
    await pauseFor(id, 1e12);
    await post(`/webhook/${id}/pause`);
    await send(accident());
    await makeDue(id);
    await pauseFor(id, 1e12);
    await post(`/webhook/${id}/resume`);
    await settled(id, 1, ['delivered']);
  });

  it('can be paused and resumed by operators too', async () => {
    const { id } = await register();
    const by = async (does: string) =>
      (await operator.post(`/operator/webhooks/${id}/${does}`, {})).data;
    expect(await by('pause')).toMatchObject({
      id,
      pausedAt: expect.stringMatching(pausedAt),
      window: 0,
    });
    expect(await by('resume')).toMatchObject({ id, pausedAt: null, window: 5 });
    expect(await noted()).toEqual(['token', 'operator paused', 'operator resumed']);
  });
});

it('a token tests and replays 20 times a minute', async () => {
  const { id } = await register();
  const statuses = [];
  for (let i = 0; i < 21; i++)
    statuses.push((await post(`/webhook/${id}/replay`, { dryRun: true })).status);
  expect(statuses).toEqual([...Array(20).fill(200), 429]);
  expect((await post(`/webhook/${id}/pause`)).status).toBe(200);
});
