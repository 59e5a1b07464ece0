import { env } from 'cloudflare:workers';
import { expect, it } from 'vitest';
import { createAccount } from '../../src/accounts/accounts.ts';
import { listHomes } from '../../src/operator/homes.ts';
import { dayMs } from '../../src/platform/durations.ts';
import { homesOf } from '../../src/platform/homes/homes.ts';
import { overloaded } from '../support/database.ts';

const now = Date.UTC(2026, 10, 20, 9);
const today = Math.floor(now / dayMs);

const eu = homesOf(env).get('eu') ?? env;
const run = (text: string, ...values: unknown[]) =>
  eu.DB.prepare(text)
    .bind(...values)
    .run();

/** So many events of an account on a day. */
const count = (accountId: string, day: number, events: number) =>
  run(
    `insert into event_counts (account_id, hours, start, risk_1, risk_2, risk_3, risk_4, risk_5, types, vehicles, drivers)
     values (?1, 24, ?2, ?3, 0, 1, 0, 0, '{}', '{}', '{}')`,
    accountId,
    day * 24,
    events - 1,
  );

it('shows of each home what lives there, the events of yesterday, and when it is full', async () => {
  const [acme, gone] = [await createAccount(eu, 'Acme'), await createAccount(eu, 'Gone')];
  await run(`update accounts set home = 'us2' where id = ?1`, gone.id); // it has moved
  await count(acme.id, today - 1, 40_000);
  await count(acme.id, today - 2, 7);
  await count(gone.id, today - 1, 9);
  const [, before] = await listHomes(env, now);
  const size = before?.bytes ?? 0;
  await run('insert into database_sizes (day, bytes) values (?1, ?2)', today - 10, size - 10_000_000);
  const homes = await listHomes(env, now);
  expect(homes.map(({ name, accounts, eventsPerDay }) => [name, accounts, eventsPerDay])).toEqual([
    ['main', 0, 0],
    ['eu', 1, 40_000],
    ['us2', 0, 0],
  ]);
  // 10 MB in ten days and nine hours: 10 GB take 28 years.
  expect(homes[1]).toMatchObject({
    bytes: size,
    share: 0,
    fullOn: expect.stringMatching(/^2055-\d\d-\d\d$/),
  });
  expect(homes[0]?.fullOn).toBeNull();
});

it('lists a home that cannot be reached with nulls', async () => {
  const { DB_US2 } = env as unknown as { DB_US2: D1Database };
  const homes = await listHomes({ ...env, DB_US2: overloaded(DB_US2) } as Env);
  const unknown = { accounts: null, bytes: null, share: null, eventsPerDay: null, fullOn: null };
  expect(homes[2]).toEqual({ name: 'us2', ...unknown });
  expect(homes[1]).toMatchObject({ name: 'eu', accounts: expect.any(Number) });
});
