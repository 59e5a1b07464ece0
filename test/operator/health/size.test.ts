import { env } from 'cloudflare:workers';
import { holdLargest } from '#src/core/accounts/accounts.ts';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { dayMs } from '#src/core/platform/durations.ts';
import {
  errorShare,
  mostBytes,
  problemOf,
  recordSize,
  sizeOf,
  tellOfSize,
  warningOf,
  warningShare,
} from '#src/operator/health/service.ts';
import { listenToLog } from '#test/support/log.ts';
import { accident, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { as, call, type World, world } from '#test/support/world.ts';

const GB = 1e9;
const now = 1000 * dayMs;
const health = {
  database: 'ok',
  queueBacklog: 0,
  oldestDueSeconds: null,
  sweptSecondsAgo: 0,
} as const;

it.each([
  ['grows', 3 * GB, { bytes: 2 * GB, day: 990 }, { share: 0.3, daysLeft: 70 }],
  ['shrinks', 2 * GB, { bytes: 3 * GB, day: 990 }, { share: 0.2, daysLeft: null }],
  ['is younger than a day', 2 * GB, { bytes: GB, day: 999.5 }, { share: 0.2, daysLeft: null }],
  ['is new', GB, undefined, { share: 0.1, daysLeft: null }],
  ['is full', 11 * GB, { bytes: 9 * GB, day: 999 }, { share: 1.1, daysLeft: 0 }],
])('how full the database is, is estimated for one that %s', (_, bytes, earlier, expected) => {
  expect(sizeOf(bytes, now, earlier)).toEqual({ bytes, ...expected });
});

it('how full the database is, is a warning from 80 % on, and no problem', () => {
  expect(warningOf({ ...health, size: sizeOf(8 * GB, now) })).toBeUndefined();
  expect(problemOf({ ...health, size: sizeOf(9 * GB, now) })).toBeUndefined();
  expect(warningOf({ ...health, size: { bytes: 9 * GB, share: 0.9, daysLeft: 10 } })).toBe(
    'The database is 90 % full, and will be full in 10 days at this rate',
  );
});

it('how full the database is, is a line from 80 % on, and an error from 95 % on', () => {
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

it('a database that is nearly full takes no records of those who add most', async () => {
  const [large, small] = [await world(), await world()];
  const send = (one: World, count: number) =>
    as(one.connection.ingestKey).send(
      ...Array.from({ length: count }, () => vehicle({ sourceId: crypto.randomUUID() })),
    );
  await Promise.all([send(large, 20), send(small, 1)]);
  await rows(
    "update changes set usage = '[]' where account_id not in (?1, ?2)",
    large.accountId,
    small.accountId,
  );
  await transaction(openDatabase(env), holdLargest(openDatabase(env), true));
  const refused = {
    status: 429,
    message: 'Storage is nearly full, and takes no records of this account for now',
  };
  expect([await send(large, 1), await send(small, 1)]).toMatchObject([refused, { status: 200 }]);
  expect(await as(large.connection.ingestKey).send(vehicle(), accident())).toMatchObject({
    status: 200,
  });
  await transaction(openDatabase(env), holdLargest(openDatabase(env), false));
  expect(await send(large, 1)).toMatchObject({ status: 200 });
});

beforeEach(() => rows('delete from database_sizes'));

it('the size that is noted is one a day, for 60 days', async () => {
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
  const bytes = await recordSize(env, Date.now() - 5 * dayMs);
  expect(bytes).toBeGreaterThan(100_000);
  await rows('update database_sizes set bytes = bytes - 50000');
  const { data } = await call<{ size: { bytes: number; daysLeft: number } }>('GET', '/health');
  const { size } = data;
  expect(size.bytes).toBeGreaterThanOrEqual(bytes);
  expect(size.daysLeft).toBeGreaterThan(100_000);
});
