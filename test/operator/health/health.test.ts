import { env } from 'cloudflare:workers';
import { app } from '#src/app.ts';
import { staleAfterSeconds, sweepAndNote } from '#src/operator/health/service.ts';
import { claim, deliveriesOf, unattempted } from '#test/support/deliveries.ts';
import { listenToLog } from '#test/support/log.ts';
import { rows } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { story } from '#test/support/story.ts';
import { call } from '#test/support/world.ts';

const tale = story();

/** A delivery that has been due for so long, and that nobody has been woken for. */
async function dueFor(seconds: number) {
  const hook = await tale.register();
  await unattempted(hook.id, tale.happen);
  await rows(
    `update deliveries set next_attempt_at = ?1 where status = 'pending'`,
    Date.now() - seconds * 1000,
  );
  const [delivery] = await deliveriesOf(hook.id);
  if (!delivery) throw new Error('nothing happened');
  return delivery;
}
const finishAll = () => rows(`update deliveries set status = 'cancelled'`);

/** A sweep whose messages nobody gets. */
const sweepInVain = async (now?: number) => {
  const refuse = vi
    .spyOn(env.DELIVERIES, 'sendBatch')
    .mockRejectedValue(new Error('Queue is overloaded'));
  await sweepAndNote(env, now);
  refuse.mockRestore();
};

/** The health of the service with one binding that is down. */
const without = async (bindings: object, headers: HeadersInit = {}) => {
  const request = new Request('https://api.example.com/health', { headers });
  return (await app.fetch(request, { ...env, ...bindings })).json();
};

describe('GET /health', () => {
  it('is healthy when nothing waits, and asks nobody for a credential', async () => {
    await finishAll();
    await sweepAndNote(env);
    const { headers, ...reply } = await call('GET', '/health');
    expect(reply).toEqual({
      status: 200,
      message: 'Healthy',
      data: {
        database: 'ok',
        queueBacklog: expect.any(Number),
        oldestDueSeconds: null,
        sweptSecondsAgo: 0,
        size: { bytes: expect.any(Number), share: 0, daysLeft: null },
      },
    });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('is 503 while a delivery has been due for five minutes, until it is held', async () => {
    const { webhookId } = await dueFor(staleAfterSeconds + 2);
    await sweepInVain();
    const { headers, ...late } = await call<{ oldestDueSeconds: number }>('GET', '/health');
    expect(late).toMatchObject({
      ...{
        status: 503,
        message: 'Deliveries are late',
        requestId: headers.get('x-request-id'),
        retryAfter: 60,
      },
      data: {
        oldestDueSeconds: expect.toSatisfy(
          (seconds: number) => Math.abs(seconds - staleAfterSeconds) < 10,
        ),
        sweptSecondsAgo: 0,
      },
    });
    expect(headers.get('retry-after')).toBe('60');
    await claim(webhookId);
    await sweepInVain();
    expect(await call('GET', '/health')).toMatchObject({
      status: 200,
      data: { oldestDueSeconds: null },
    });
    await finishAll();
  });

  it('is healthy while deliveries wait for the rate that their receiver allows', async () => {
    const { webhookId } = await dueFor(staleAfterSeconds + 2);
    await rows('update webhooks set max_per_second = 1 where id = ?1', webhookId);
    const lastCall = async (secondsAgo: number) => {
      await rows(
        `insert into webhook_health (webhook_id, failures, openings, open_until, next_call_at) values (?1, 0, 0, 0, ?2)
         on conflict do update set next_call_at = excluded.next_call_at`,
        webhookId,
        Date.now() + 1000 - secondsAgo * 1000,
      );
      await sweepInVain();
      return (await call('GET', '/health')).status;
    };
    expect([await lastCall(1), await lastCall(60)]).toEqual([200, 503]);
    await finishAll();
  });

  it('is 503 when no sweep has run for five minutes, or 15 after the first deploy', async () => {
    const stopped = { status: 503, message: 'Scheduled jobs have stopped' };
    await finishAll();
    await sweepInVain(Date.now() - (staleAfterSeconds + 2) * 1000);
    expect(await call('GET', '/health')).toMatchObject(stopped);
    await rows('delete from sweeps');
    const queries = env.MIGRATIONS.flatMap((migration) => migration.queries);
    for (const insert of queries.filter((query) => query.includes('insert into sweeps')))
      await rows(insert);
    expect(await call('GET', '/health')).toMatchObject({
      status: 200,
      data: { sweptSecondsAgo: null },
    });
    await rows('update sweeps set at = at - 16 * 60 * 1000');
    expect(await call('GET', '/health')).toMatchObject(stopped);
    await sweepInVain();
  });

  it('is 503 when the database words its errors in a new way', async () => {
    const log = listenToLog();
    const batch = env.DB.batch.bind(env.DB);
    vi.spyOn(env.DB, 'batch').mockImplementation((statements) =>
      batch<never>(statements).catch(() =>
        Promise.reject(new Error('D1_ERROR: malformed JSON path')),
      ),
    );
    expect(await call('GET', '/health')).toMatchObject({
      status: 503,
      message: 'Database does not respond',
    });
    expect(log.lines('fault')[0]?.error).toContain('words of refusals');
    vi.restoreAllMocks();
  });

  it('is 503 when the database fails, and the log says why', async () => {
    const log = listenToLog();
    const prepare = () => {
      throw new Error('D1_ERROR: D1 DB is overloaded');
    };
    expect(await without({ DB: { prepare } })).toMatchObject({
      ...{ status: 503, message: 'Database does not respond', retryAfter: 60 },
      data: { database: 'unavailable', oldestDueSeconds: null },
    });
    expect(log.lines('fault')).toMatchObject([
      {
        level: 'error',
        message: 'Database does not respond',
        error: 'Error: D1_ERROR: D1 DB is overloaded',
      },
    ]);
  });

  it('does not wait for a database that hangs', async () => {
    listenToLog();
    const patience = vi.spyOn(scheduler, 'wait').mockResolvedValue();
    const statement = { bind: () => statement, all: () => new Promise(() => {}) };
    const body = await without({ DB: { prepare: () => statement } });
    expect(patience).toHaveBeenCalledWith(5000, expect.anything());
    expect(body).toMatchObject({ status: 503, message: 'Database does not respond' });
  });

  it('is healthy although the queue does not say what waits in it', async () => {
    await finishAll();
    const DELIVERIES = { metrics: () => Promise.reject(new Error('not now')) };
    expect(await without({ DELIVERIES })).toMatchObject({
      status: 200,
      data: { database: 'ok', queueBacklog: null },
    });
  });

  it('is refused to an address that asks too often', async () => {
    const HEALTH_LIMIT = { limit: async () => ({ success: false }) };
    expect(await without({ HEALTH_LIMIT }, { 'cf-connecting-ip': '203.0.113.9' })).toMatchObject({
      status: 429,
      message: 'Rate limit exceeded',
    });
  });

  it('reads two rows, however much is pending', async () => {
    await rows(`insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
       select 'many', i, 'a', 'e', 0, 'pending', i from n`);
    await sweepInVain();
    const meter = metered();
    expect(await without({ DB: meter.env.DB })).toMatchObject({ status: 503 });
    expect(meter.cost).toMatchObject({ trips: 1, read: 2 });
    await rows(`delete from deliveries where webhook_id = 'many'`);
    await sweepInVain();
  });
});
