import { env } from 'cloudflare:workers';
import { app } from '#src/app.ts';
import { holdLargest } from '#src/core/accounts/accounts.ts';
import {
  errorShare,
  mostBytes,
  problemOf,
  recordSize,
  sizeOf,
  staleAfterSeconds,
  sweepAndNote,
  tellOfSize,
  warningOf,
  warningShare,
} from '#src/operator/health/service.ts';
import {
  accident,
  addRows,
  call,
  claim,
  dayMs,
  listenToLog,
  metered,
  openDatabase,
  overloaded,
  rows,
  setWindow,
  story,
  through,
  times,
  transaction,
  vehicle,
  world,
} from '#test/support.ts';

const { register, us } = story();

/** A webhook whose only delivery has been due for so long, and that nobody has been woken for. */
async function dueFor(seconds: number): Promise<string> {
  const { id } = await register();
  await addRows('deliveries', 1, () => ({
    ...{ webhook_id: id, account_id: us.accountId, status: 'pending' },
    next_attempt_at: Date.now() - seconds * 1000,
  }));
  return id;
}
const ask = <T>() => call<T>('GET', '/health');
const finishAll = () => rows(`update deliveries set status = 'cancelled'`);

/** A sweep whose messages nobody gets. */
const sweepInVain = (now?: number) => {
  const DELIVERIES = { sendBatch: async () => {} } as unknown as Queue; // all that it uses
  return sweepAndNote({ ...env, DELIVERIES }, now);
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
    const reply = await ask();
    expect(reply).toMatchObject({ status: 200, message: 'Healthy' });
    expect(reply.data).toEqual({
      ...{ database: 'ok', queueBacklog: expect.any(Number) },
      ...{ oldestDueSeconds: null, sweptSecondsAgo: 0 },
      size: { bytes: expect.any(Number), share: 0, daysLeft: null },
    });
    expect(reply.headers.get('cache-control')).toBe('no-store');
  });

  it('is 503 while a delivery has been due for five minutes, until it is held', async () => {
    const webhookId = await dueFor(staleAfterSeconds + 2);
    await sweepInVain();
    const { headers, ...late } = await ask<{ oldestDueSeconds: number }>();
    expect(late).toMatchObject({
      ...{ status: 503, message: 'Deliveries are late', retryAfter: 60 },
      requestId: headers.get('x-request-id'),
      data: { sweptSecondsAgo: 0 },
    });
    expect(Math.abs(late.data.oldestDueSeconds - staleAfterSeconds)).toBeLessThan(10);
    expect(headers.get('retry-after')).toBe('60');
    await claim(webhookId);
    await sweepInVain();
    expect(await ask()).toMatchObject({
      status: 200,
      data: { oldestDueSeconds: null },
    });
    await finishAll();
  });

  it('is healthy while deliveries wait for the rate that their receiver allows', async () => {
    const webhookId = await dueFor(staleAfterSeconds + 2);
    await rows('update webhooks set max_per_second = 1 where id = ?1', webhookId);
    const lastCall = async (secondsAgo: number) => {
      await setWindow(webhookId, 1);
      const next = Date.now() + 1000 - secondsAgo * 1000;
      await rows('update webhook_health set next_call_at = ?1', next);
      await sweepInVain();
      return (await ask()).status;
    };
    expect([await lastCall(1), await lastCall(60)]).toEqual([200, 503]);
    await finishAll();
  });

  it('is 503 when no sweep has run for five minutes, or 15 after the first deploy', async () => {
    const stopped = { status: 503, message: 'Scheduled jobs have stopped' };
    await finishAll();
    await sweepInVain(Date.now() - (staleAfterSeconds + 2) * 1000);
    expect(await ask()).toMatchObject(stopped);
    await rows('delete from sweeps');
    const queries = env.MIGRATIONS.flatMap((migration) => migration.queries);
    for (const query of queries) if (query.includes('insert into sweeps')) await rows(query);
    expect(await ask()).toMatchObject({
      status: 200,
      data: { sweptSecondsAgo: null },
    });
    await rows('update sweeps set at = at - 16 * 60 * 1000');
    expect(await ask()).toMatchObject(stopped);
    await sweepInVain();
  });

  const unavailable = { status: 503, message: 'Database does not respond', retryAfter: 60 };

  const reworded = () => Promise.reject(new Error('D1_ERROR: malformed JSON path'));
  it.each([
    [
      'words its errors in a new way',
      () => through(env.DB, (run) => run().catch(reworded)),
      'words of refusals',
    ],
    ['fails', () => overloaded(env.DB), 'D1 DB is overloaded'],
  ])('is 503 when the database %s, and the log says why', async (_, database, why) => {
    const { lines } = listenToLog();
    const data = { database: 'unavailable', oldestDueSeconds: null };
    expect(await without({ DB: database() })).toMatchObject({ ...unavailable, data });
    expect(lines('fault')).toMatchObject([{ level: 'error', error: expect.stringContaining(why) }]);
  });

  it('does not wait for a database that hangs', async () => {
    listenToLog();
    const patience = vi.spyOn(scheduler, 'wait').mockResolvedValue();
    const statement = { bind: () => statement, all: () => new Promise(() => {}) };
    expect(await without({ DB: { prepare: () => statement } })).toMatchObject(unavailable);
    expect(patience).toHaveBeenCalledWith(5000, expect.anything());
  });

  it('is healthy although the queue does not say what waits in it', async () => {
    await finishAll();
    const DELIVERIES = { metrics: () => Promise.reject(new Error('not now')) };
    expect(await without({ DELIVERIES })).toMatchObject({
      status: 200,
      data: { queueBacklog: null },
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
    await addRows('deliveries', 5000, (i) => ({
      ...{ webhook_id: 'many', status: 'pending', next_attempt_at: i + 1 },
    }));
    await sweepInVain();
    const meter = metered();
    expect(await without({ DB: meter.env.DB })).toMatchObject({ status: 503 });
    expect(meter.cost).toMatchObject({ trips: 1, read: 2 });
    await rows(`delete from deliveries where webhook_id = 'many'`);
    await sweepInVain();
  });
});

const GB = 1e9;
const now = 1000 * dayMs;
const health = {
  database: 'ok',
  queueBacklog: 0,
  oldestDueSeconds: null,
  sweptSecondsAgo: 0,
} as const;

describe('how full the database is', () => {
  it.each([
    ['grows', 3 * GB, { bytes: 2 * GB, day: 990 }, { share: 0.3, daysLeft: 70 }],
    ['shrinks', 2 * GB, { bytes: 3 * GB, day: 990 }, { share: 0.2, daysLeft: null }],
    ['is younger than a day', 2 * GB, { bytes: GB, day: 999.5 }, { share: 0.2, daysLeft: null }],
    ['is new', GB, undefined, { share: 0.1, daysLeft: null }],
    ['is full', 11 * GB, { bytes: 9 * GB, day: 999 }, { share: 1.1, daysLeft: 0 }],
  ])('is estimated for one that %s', (_, bytes, earlier, expected) => {
    expect(sizeOf(bytes, now, earlier)).toEqual({ bytes, ...expected });
  });

  it('is a warning from 80 % on, and no problem', () => {
    expect(warningOf({ ...health, size: sizeOf(8 * GB, now) })).toBeUndefined();
    expect(problemOf({ ...health, size: sizeOf(9 * GB, now) })).toBeUndefined();
    expect(warningOf({ ...health, size: { bytes: 9 * GB, share: 0.9, daysLeft: 10 } })).toBe(
      'The database is 90 % full, and will be full in 10 days at this rate',
    );
  });

  it('is a line from 80 % on, and an error from 95 % on', () => {
    const { lines } = listenToLog();
    for (const share of [warningShare, errorShare]) {
      tellOfSize(share * mostBytes);
      tellOfSize(share * mostBytes + 1);
    }
    const message = 'The database is nearly full';
    expect(lines('fault')).toMatchObject([
      { level: 'warn', message, percent: 80 },
      { level: 'warn', message, percent: 95 },
      { level: 'error', message, percent: 95 },
    ]);
  });
});

it('a database that is nearly full takes no records of those who add most', async () => {
  const [large, small] = [us, await world()];
  await large.send(...times(20, (i) => vehicle({ sourceId: `${i}` })));
  await small.send(vehicle());
  const db = openDatabase(env);
  await transaction(db, holdLargest(db, true));
  expect(await large.send(vehicle())).toMatchObject({
    status: 429,
    message: 'Storage is nearly full, and takes no records of this account for now',
  });
  expect((await small.send(vehicle())).status).toBe(200);
  expect((await large.send(vehicle(), accident())).status).toBe(200);
  await transaction(db, holdLargest(db, false));
  expect((await large.send(vehicle())).status).toBe(200);
});

it('the size that is noted is one a day, for 60 days', async () => {
  await rows('delete from database_sizes');
  for (const day of [0, 10, 60]) {
    await recordSize(env, now + day * dayMs);
    await recordSize(env, now + day * dayMs + 3_600_000);
  }
  const days = async () =>
    (await rows('select day from database_sizes order by day')).map(({ day }) => day);
  expect(await days()).toEqual([1000, 1010, 1060]);
  await recordSize(env, now + 61 * dayMs);
  expect(await days()).toEqual([1010, 1060, 1061]);
});

it('the size that is noted is what the rate follows from', async () => {
  await rows('delete from database_sizes');
  const bytes = await recordSize(env, Date.now() - 5 * dayMs);
  expect(bytes).toBeGreaterThan(100_000);
  await rows('update database_sizes set bytes = bytes - 50000');
  const { data } = await ask<{ size: { bytes: number; daysLeft: number } }>();
  expect(data.size.bytes).toBeGreaterThanOrEqual(bytes);
  expect(data.size.daysLeft).toBeGreaterThan(100_000);
});
