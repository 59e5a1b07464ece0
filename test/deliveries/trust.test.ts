import { env } from 'cloudflare:workers';
import { describe, expect, it, vi } from 'vitest';
import { openDatabase, transaction } from '../../src/db/database.ts';
import { firstIdAt } from '../../src/db/ids.ts';
import { leaseMs, startWindowMs } from '../../src/deliveries/claim.ts';
import { handle } from '../../src/deliveries/consumer.ts';
import { prune } from '../../src/deliveries/prune.ts';
import { recordStatements } from '../../src/deliveries/record.ts';
import { resealHeaders } from '../../src/webhooks/rotation.ts';
import { attempted, claim, deliveriesOf, settled } from '../support/deliveries.ts';
import { story } from '../support/story.ts';
import { accident, as, operator, safetyEvent, type WebhookOut } from '../support/world.ts';

const tale = story();
const fail = () => new Response('no', { status: 500 });

describe('a replay', () => {
  const failAll = async () => {
    tale.heard.answers(() => new Response('gone', { status: 410 }));
    const hook = await tale.register();
    await tale.happen(4);
    await settled(hook.id, 4, ['failed']);
    tale.heard.answers(() => new Response('ok'));
    return hook;
  };
  const show = async (id: string) =>
    (await operator.get<{ status: string; attempts: number; log: object[] }>(`/operator/deliveries/${id}`))
      .data;

  it('of one delivery starts its schedule anew, with its Delivery-Id and its log', async () => {
    const hook = await failAll();
    const [first] = await deliveriesOf(hook.id);
    const id = first?.id ?? '';
    expect((await operator.post(`/operator/deliveries/${id}/replay`, {})).data).toEqual({
      replayed: 1,
      more: false,
    });
    await settled(hook.id, 1, ['delivered']);
    expect(tale.heard.got.at(-1)?.headers['delivery-id']).toBe(id);
    expect(await show(id)).toMatchObject({
      status: 'delivered',
      attempts: 1,
      log: [
        { at: expect.stringMatching(/Z$/), result: 'status', status: 410, answer: 'gone' },
        { result: 'success', status: 200, answer: 'ok', durationMs: expect.any(Number) },
      ],
    });
    expect((await operator.post(`/operator/deliveries/${id}/replay`, {})).data).toEqual({
      replayed: 0,
      more: false,
    });
  });

  it('of a webhook, or of a time range of it, sends all that failed', async () => {
    const hook = await failAll();
    const path = `/operator/webhooks/${hook.id}/replay`;
    const past = { since: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00Z' };
    expect((await operator.post(path, past)).data).toMatchObject({ replayed: 0 });
    expect((await operator.post(path, { since: '2020-01-01T00:00:00Z' })).data).toMatchObject({
      replayed: 4,
    });
    await settled(hook.id, 4, ['delivered']);
    const list = (query: string) =>
      operator.get<{ id: string; status: string }[]>(`/operator/deliveries?webhookId=${hook.id}${query}`);
    expect((await list('')).data.map(({ id }) => id)).toEqual(
      (await deliveriesOf(hook.id)).map(({ id }) => id).toReversed(),
    );
    expect((await list('&status=failed')).data).toEqual([]);
    expect((await list('&since=2999-01-01T00:00:00Z')).data).toEqual([]);
    expect((await list('&limit=3')).data).toHaveLength(3);
    expect(await list('&status=lost')).toMatchObject({ status: 400, errors: [{ field: 'status' }] });
  });

  it('of nothing that is known is refused', async () => {
    expect(await operator.post('/operator/deliveries/nope/replay', {})).toMatchObject({
      status: 400,
      message: 'Unknown delivery',
    });
  });
});

describe('custom headers', () => {
  const secret = 'a-very-secret-value';

  it('are in no table, log or error, and still in the API and the deliveries', async () => {
    const lines = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn'), vi.spyOn(console, 'log')];
    tale.heard.answers(fail);
    const hook = await tale.register({ headers: { 'X-Secret': secret } });
    await tale.happen(1);
    await attempted(hook.id);
    expect(tale.heard.got[0]?.headers['x-secret']).toBe(secret);
    const list = await as(tale.us.apiToken).get<WebhookOut[]>('/webhooks');
    expect(list.data[0]?.headers).toEqual({ 'X-Secret': secret });
    const { results: tables } = await env.DB.prepare(
      `select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'`,
    ).all<{ name: string }>();
    expect(tables.length).toBeGreaterThan(8);
    for (const { name } of tables) {
      const { results } = await env.DB.prepare(`select * from "${name}"`).all();
      expect(JSON.stringify(results)).not.toContain(secret);
    }
    for (const spy of lines) expect(JSON.stringify(spy.mock.calls)).not.toContain(secret);
  });

  it('sealed with an older key are read, and sealed anew with the newest', async () => {
    const hook = await tale.register({ headers: { 'X-Secret': secret } });
    const rotated = { ...env, HEADER_KEYS: `new:${btoa('n'.repeat(32))},${env.HEADER_KEYS}` };
    const keyOf = () =>
      env.DB.prepare(`select headers->>'key' as key from webhooks where id = ?1`).bind(hook.id).first('key');
    expect(await keyOf()).toBe('test');
    expect(await resealHeaders(rotated)).toBeGreaterThan(0);
    expect(await keyOf()).toBe('new');
    expect(await resealHeaders(rotated)).toBe(0);
    await tale.happen(1);
    const [delivery] = await vi.waitFor(() => deliveriesOf(hook.id));
    await env.DB.prepare(
      'update deliveries set next_attempt_at = 0, claimed_until = 0, status = ?2 where id = ?1',
    )
      .bind(delivery?.id, 'pending')
      .run();
    await handle(rotated, { accountId: tale.us.accountId, webhookId: hook.id, lane: 1 });
    expect(tale.heard.got.at(-1)?.headers['x-secret']).toBe(secret);
  });

  it('that cannot be read cost no attempt', async () => {
    const hook = await tale.register();
    await env.DB.prepare(`update webhooks set headers = json_set(headers, '$.key', 'lost') where id = ?1`)
      .bind(hook.id)
      .run();
    vi.spyOn(console, 'error').mockImplementation(() => {});
    await tale.happen(1);
    await vi.waitFor(async () => {
      const [row] = await deliveriesOf(hook.id);
      expect(row).toMatchObject({ status: 'pending', attempts: 0, claimedUntil: 0 });
      expect(row?.nextAttemptAt).toBeGreaterThan(Date.now() + 60_000);
    });
    expect(tale.heard.got).toEqual([]);
  });
});

describe('pruning', () => {
  it('deletes what ended before retention, also of deleted webhooks, and never what is pending', async () => {
    const [kept, deleted, waiting] = [await tale.register(), await tale.register(), await tale.register()];
    tale.heard.answers(({ url }) => (url === waiting.url ? fail() : new Response('ok')));
    await tale.happen(3);
    await as(tale.us.connection.ingestKey).send(accident());
    await settled(kept.id, 4);
    await settled(deleted.id, 4);
    await attempted(waiting.id);
    await as(tale.us.apiToken).delete(`/webhook/${deleted.id}`);
    const later = Date.now() + 30 * 86_400_000;
    expect(await prune(env, later - 3_600_000)).toBe(0);
    expect(await prune(env, later + 60_000)).toBeGreaterThanOrEqual(8);
    expect(await deliveriesOf(kept.id)).toEqual([]);
    expect(await deliveriesOf(deleted.id)).toEqual([]);
    expect((await deliveriesOf(waiting.id)).length).toBeGreaterThan(0);
    // The accident is still known: its level is not told again.
    expect(
      (await as(tale.us.connection.ingestKey).send(accident(), safetyEvent({ sourceId: 'e0' }))).data,
    ).toMatchObject({
      accepted: 0,
      unchanged: 2,
    });
    expect(firstIdAt(Date.now() + 1000) > ((await deliveriesOf(waiting.id))[0]?.id ?? '')).toBe(true);
  });
});

describe('a claim', () => {
  /** A webhook with new deliveries that no message has been sent for. */
  const unwoken = async (count: number) => {
    vi.spyOn(env.DELIVERIES, 'sendBatch').mockRejectedValueOnce(new Error('Queue is overloaded'));
    const { id } = await tale.register();
    await tale.happen(count);
    return id;
  };
  const consume = async (webhookId: string) => {
    await handle(env, { accountId: tale.us.accountId, webhookId, lane: 1 });
    return deliveriesOf(webhookId);
  };

  it('is never of two lanes at once', async () => {
    const webhookId = await unwoken(30);
    const claims = await Promise.all([1, 2, 3, 4].map(() => claim(webhookId, 10)));
    expect(new Set(claims.flatMap(({ claimed }) => claimed.map(({ id }) => id))).size).toBe(30);
    expect(claims.flatMap(({ claimed }) => claimed)).toHaveLength(30);
  });

  it('holds no more of a webhook than may be in flight', async () => {
    const webhookId = await unwoken(60);
    expect((await claim(webhookId, 60)).claimed).toHaveLength(50);
    expect((await claim(webhookId, 60)).claimed).toHaveLength(0);
  });

  it('that has lapsed, and is another’s by now, records nothing', async () => {
    const webhookId = await unwoken(1);
    const lapsed = await claim(webhookId);
    const [held] = (await claim(webhookId, 1, Date.now() + leaseMs + 1)).claimed;
    const outcomes = lapsed.claimed.map((key) => ({ key, status: 'failed' as const }));
    const db = openDatabase(env);
    await transaction(db, recordStatements(db, webhookId, outcomes, undefined, Date.now()));
    expect(await deliveriesOf(webhookId)).toMatchObject([
      { status: 'pending', claimedUntil: held?.claimedUntil },
    ]);
  });

  it('is released for calls that could not start within its first five seconds', async () => {
    const webhookId = await unwoken(40);
    const now = Date.now.bind(Date);
    let calls = 0;
    tale.heard.answers(async () => {
      if (++calls === 20) vi.spyOn(Date, 'now').mockImplementation(() => now() + startWindowMs + 1);
      return new Response('ok');
    });
    await consume(webhookId);
    vi.mocked(Date.now).mockRestore();
    const rows = await vi.waitFor(() => settled(webhookId, 40), 15_000);
    expect(rows.every(({ attempts }) => attempts === 1)).toBe(true);
  }, 30_000);

  it('is recorded though D1 does not confirm the record once', async () => {
    const webhookId = await unwoken(1);
    const batch = env.DB.batch.bind(env.DB);
    let trips = 0;
    vi.spyOn(env.DB, 'batch').mockImplementation((statements) =>
      ++trips === 2 ? Promise.reject(new Error('D1_ERROR: Network connection lost.')) : batch(statements),
    );
    expect(await consume(webhookId)).toMatchObject([{ status: 'delivered', attempts: 1, claimedUntil: 0 }]);
    expect(tale.heard.got).toHaveLength(1);
  });
});
