import { env } from 'cloudflare:workers';
import { firstWindow } from '#src/core/webhooks/deliveries/policy.ts';
import { sweep } from '#src/core/webhooks/deliveries/sweep.ts';
import {
  accident,
  anyTime,
  attempted,
  auditOf,
  deliveriesOf,
  invalid,
  makeDue,
  operator,
  pauseFor,
  rows,
  settled,
  story,
  value,
  webhooksOf,
} from '#test/support.ts';

const { us, heard, send, register, happen } = story();
type Sent = { eventId: string; deliveryIds: string[] };

const post = <T>(path: string, body?: object) => us.api.post<T>(path, body);
const noted = async () =>
  (await auditOf(us))
    .filter(({ subject }) => subject === 'webhook')
    .map(({ actor, fields }) => [actor, ...fields].join(' '))
    .toReversed();
const bodies = () => heard.got.map(({ body }) => body);

describe('a replay by API', () => {
  it('counts what a webhook has missed, and replays it, though its receiver is paused', async () => {
    heard.returns(410);
    const { id } = await register();
    await happen(3);
    await settled(id, 3, 'failed');
    heard.returns(200);
    const replay = (body: object) => post(`/webhook/${id}/replay`, body);
    const three = { count: 3, more: false };
    const none = { count: 0, more: false };
    expect(await replay({ dryRun: true })).toMatchObject({ message: 'Counted', data: three });
    expect((await replay({ to: '2026-01-01' })).data).toEqual(none);
    expect(await deliveriesOf(id)).toMatchObject(Array(3).fill({ status: 'failed' }));
    await pauseFor(id, 60_000);
    const replayed = await replay({ from: '2026-01-01T00:00:00Z' });
    expect(replayed).toMatchObject({ message: 'Replayed', data: three });
    await settled(id, 3, 'delivered');
    expect((await replay({})).data).toEqual(none);
    expect((await replay({ includeDelivered: true, dryRun: true })).data).toMatchObject(three);
    expect(await noted()).toEqual(['token', 'token replayed']);
  });

  it('of one delivery begins its schedule again, with its Delivery-Id; a pending one can be sent now', async () => {
    heard.responds(() => new Response('no', { status: 500 }));
    const hook = await register();
    await happen();
    const { id } = await attempted(hook.id);
    const path = `/deliveries/${id}`;
    heard.returns(200);
    const due = () => value('select next_attempt_at from deliveries where id = ?', id);
    const before = await due();
    await post(`/webhook/${hook.id}/pause`);
    const paused = invalid('This webhook is paused, resume it first');
    expect(await post(`${path}/send`)).toMatchObject(paused);
    expect(await due()).toBe(before);
    await post(`/webhook/${hook.id}/resume`);
    await pauseFor(hook.id, 60_000);
    expect(await post(`${path}/send`)).toMatchObject({ message: 'Delivery is due', data: { id } });
    await settled(hook.id, 1, 'delivered');
    const pending = { id, attempts: 0, status: 'pending' };
    expect((await post(`${path}/replay`)).data).toMatchObject(pending);
    await attempted(hook.id);
    expect(heard.got.map(({ headers }) => headers['delivery-id'])).toEqual([id, id, id]);
    expect((await us.api.get(path)).data).toMatchObject({
      id,
      webhookId: hook.id,
      attempts: 1,
      payload: { vehicleName: 'Truck 1' },
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
  const [event, level] = [await test({ type: 2 }), await test({ type: 1, level: 2 })];
  await settled(id, 2, 'delivered');
  expect(bodies()).toMatchObject([
    { type: 2, data: { eventId: event.eventId, vehicleVin: 'TEST0000000000000' } },
    { type: 1, data: { eventId: level.eventId, notificationLevel: 2, tSP: 'TEST' } },
  ]);
  expect(await deliveriesOf(id)).toMatchObject(
    [event, level].map(({ deliveryIds: [one] }) => ({ id: one })),
  );
  const began = Date.now();
  expect((await test({ type: 1 })).deliveryIds).toHaveLength(3);
  await settled(id, 3, 'delivered');
  // The others wait for their time, not for the level before.
  const waiting = (await deliveriesOf(id)).filter(({ status }) => status === 'pending');
  const [second = 0, third = 0] = waiting.map(({ nextAttemptAt }) => nextAttemptAt - began).sort();
  expect([second >= 3000, third >= 6000]).toEqual([true, true]);
  expect(await noted()).toEqual(['token', 'token tested', 'token tested', 'token tested']);
  expect((await us.api.get('/accidents')).data).toEqual([]);
});

it('the state of webhooks, for those who ask, says which are paused, and which wait until when', async () => {
  const [active, waiting, paused] = [await register(), await register(), await register()];
  const until = Date.now() + 60_000;
  await pauseFor(waiting.id, 60_000);
  await rows('update webhook_health set open_until = ?1', until);
  await post(`/webhook/${paused.id}/pause`);
  const isActive = { state: { status: 'active', failures: 0, nextAttemptAt: null } };
  const { data: listed } = await us.api.get<object[]>('/webhooks?include=state');
  expect(listed).toMatchObject([
    isActive,
    { state: { status: 'waiting', failures: 9, nextAttemptAt: new Date(until).toISOString() } },
    { state: { status: 'paused', failures: 0, nextAttemptAt: null } },
  ]);
  const path = `/webhook/${active.id.toUpperCase()}?include=state`;
  const { data } = await us.api.get<object>(path);
  expect(data).toMatchObject(isActive);
  expect((await webhooksOf(us))[0]).not.toHaveProperty('state');
  expect((await us.api.put(`/webhook/${active.id}`, data)).status).toBe(200);
});

describe('a webhook that its account has paused', () => {
  it('keeps what there is to send, and sends it once it is resumed, accidents first', async () => {
    const { id } = await register();
    const before = await webhooksOf(us);
    const paused = await post(`/webhook/${id}/pause`);
    expect(paused).toMatchObject({ message: 'Webhook paused', data: { id, pausedAt: anyTime } });
    await happen(9);
    await send(accident());
    expect(await sweep(env, Date.now() + 60_000)).toMatchObject({ woken: 0 });
    expect(heard.got).toEqual([]);
    const waiting = { status: 'pending', attempts: 0, lastAnswer: null };
    expect((await us.api.get('/deliveries')).data).toMatchObject(Array(10).fill(waiting));
    expect(await post(`/webhook/${id}/resume`)).toMatchObject({ message: 'Webhook resumed' });
    await settled(id, 10, 'delivered');
    expect(bodies().findIndex(({ type }) => type === 1)).toBeLessThan(firstWindow);
    expect(await webhooksOf(us)).toEqual(before);
  });

  it('stays paused when it is updated or paused again, which is not noted twice', async () => {
    const hook = await register();
    const does = async (what: string) => (await post(`/webhook/${hook.id}/${what}`)).data;
    const paused = await does('pause');
    expect(await does('pause')).toEqual(paused);
    expect((await us.api.put(`/webhook/${hook.id}`, hook)).data).toEqual(paused);
    expect(await webhooksOf(us)).toEqual([paused]);
    expect([await does('resume'), await does('resume')]).toEqual([hook, hook]);
    expect(await noted()).toEqual(['token', 'token paused', 'token', 'token resumed']);
  });

  it('has what is replayed wait', async () => {
    const { id } = await register();
    await happen();
    const [delivery] = await settled(id, 1, 'delivered');
    await post(`/webhook/${id}/pause`);
    const { data } = await post(`/deliveries/${delivery?.id}/replay`);
    expect(data).toMatchObject({ status: 'pending' });
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
    await settled(id, 1, 'delivered');
  });

  it('can be paused and resumed by operators too', async () => {
    const { id } = await register();
    const by = async (does: string) =>
      (await operator.post(`/operator/webhooks/${id}/${does}`, {})).data;
    const paused = { id, pausedAt: anyTime, window: 0 };
    expect(await by('pause')).toMatchObject(paused);
    expect(await by('resume')).toMatchObject({ id, pausedAt: null, window: 5 });
    expect(await noted()).toEqual(['token', 'operator paused', 'operator resumed']);
  });
});

const minute = () => Math.floor(Date.now() / 60_000);

it('a token tests and replays 20 times a minute', async () => {
  const { id } = await register();
  const count = () => post(`/webhook/${id}/replay`, { dryRun: true });
  const began = minute();
  let counted = 0;
  for (; (await count()).status === 200; counted++);
  const mayBe = minute() === began ? 20 : 40; // a new minute has begun meanwhile
  expect(counted).toBeGreaterThanOrEqual(20);
  expect(counted).toBeLessThanOrEqual(mayBe);
  expect((await post(`/webhook/${id}/pause`)).status).toBe(200);
});
