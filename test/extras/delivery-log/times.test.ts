import { sql } from 'drizzle-orm';
import { transaction } from '#src/core/platform/db/database.ts';
import { percentile, responsesIn, selectTimes, waitsIn } from '#src/extras/delivery-log/times.ts';
import { addRows, db, newId, times } from '#test/support.ts';

it.each([
  [[], 0.5, null],
  [[1300, 200, 200, 200], 0.5, 200],
  [[1300, 200, 200, 200], 0.95, 1300],
  [[3, Number.POSITIVE_INFINITY], 0.95, Number.POSITIVE_INFINITY],
])('of %j, the share of %d came within %d ms', (times, share, ms) =>
  expect(percentile(times, share)).toBe(ms),
);

const since = 1_800_000_000_000;
const one = {
  webhookId: 'w',
  id: newId(since),
  level: 0,
  status: 'delivered' as const,
  first: true,
};
const at = (ms: number) => [since + ms, 60, 200];
const attempted = (...attempts: unknown[]) => JSON.stringify(attempts);
const failure = { at: since + 7000, durationMs: 40, result: 'dns' };

it.each<[string, object, object]>([
  [
    'a success',
    { attempts: attempted(at(200), at(200)) },
    { inTime: 1, firstAttempt: [200], delivered: [260] },
  ],
  [
    'a success after a failure',
    { attempts: attempted(failure, at(9000)) },
    { inTime: 0, firstAttempt: [7000], delivered: [9060] },
  ],
  [
    'one that waits, with its age',
    { status: 'pending', attempts: attempted(null, null) },
    { inTime: 0, firstAttempt: [30_000], delivered: [30_000] },
  ],
  [
    'one that failed without an attempt, which is infinite',
    { status: 'failed', attempts: attempted(null, null) },
    { inTime: 0, firstAttempt: [Number.POSITIVE_INFINITY], delivered: [Number.POSITIVE_INFINITY] },
  ],
])('%s has waited', (_, delivery, waits) => {
  const rows = [{ ...one, attempts: '[]', ...delivery }];
  const none = { count: 0, inTime: null, firstAttempt: [], delivered: [] };
  const found = { count: 1, ...waits };
  expect(waitsIn(rows, since + 30_000)).toEqual({ events: found, accidents: none });
  const accidents = rows.map((row) => ({ ...row, level: 1 }));
  expect(waitsIn(accidents, since + 30_000)).toEqual({ events: none, accidents: found });
});

it.each([{ first: false }, { status: 'cancelled' as const }])(
  'a delivery with %j has not waited',
  (differs) => {
    const row = { ...one, attempts: attempted(at(200), at(200)), ...differs };
    expect(waitsIn([row], since).events.count).toBe(0);
  },
);

it('a response is that to the last attempt, or the call that was given up', () => {
  const timeout = { at: since, durationMs: 15_000, result: 'timeout' };
  const lasts = [at(200), failure, timeout, null].map((last) => ({
    ...one,
    attempts: attempted(failure, last),
  }));
  expect(responsesIn(lasts)).toEqual([
    { at: since + 200, ms: 60 },
    { at: since, ms: 15_000 },
  ]);
});

it('the newest 1,000 deliveries are read, as many of each webhook', async () => {
  const hooks = [newId(), newId()];
  const ids = times(1100, (i) => newId(since + i));
  for (const webhook_id of hooks)
    await addRows('deliveries', ids.length, (i) => ({
      webhook_id,
      id: ids[i],
      account_id: 'a',
      event_id: 'e',
      level: 0,
      status: 'delivered',
      log: JSON.stringify([at(0), failure, at(i)]),
    }));
  const timesOf = (webhooks: string[]) =>
    transaction(
      db,
      selectTimes(db, sql`(select value as id from json_each(${JSON.stringify(webhooks)}))`),
    );
  const alone = await timesOf(hooks.slice(0, 1));
  expect(alone.map(({ id }) => id).toSorted()).toEqual(ids.slice(-1000));
  expect(responsesIn(alone)).toContainEqual({ at: since + 1099, ms: 60 });
  const both = await timesOf(hooks);
  for (const hook of hooks) {
    const read = both.filter(({ webhookId }) => webhookId === hook).map(({ id }) => id);
    expect(read.toSorted()).toEqual(ids.slice(-500));
  }
  expect(await timesOf([])).toEqual([]);
});
