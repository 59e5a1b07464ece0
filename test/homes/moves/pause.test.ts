import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core';
import { expect, it, vi } from 'vitest';
import { beginMove } from '../../../src/homes/moves/begin.ts';
import { cancelMove } from '../../../src/homes/moves/end.ts';
import { countOf, jsonArrays, movedTables, pageStatements } from '../../../src/homes/moves/rows.ts';
import type { MoveProgress } from '../../../src/operator/api/moves.ts';
import { openDatabase } from '../../../src/platform/db/database.ts';
import { newId } from '../../../src/platform/db/ids.ts';
import { dueConnections } from '../../../src/providers/store.ts';
import { leaseMs } from '../../../src/webhooks/deliveries/claim.ts';
import { handle } from '../../../src/webhooks/deliveries/consumer.ts';
import { moveTo, rowsIn } from '../../support/homes.ts';
import { ask, signIn } from '../../support/portal.ts';
import { receiver } from '../../support/receiver.ts';
import { vehicle } from '../../support/records.ts';
import { as, operator, type World, webhookBody, world } from '../../support/world.ts';

/** `npm run proof` takes as many rows as the requirement names. */
const size = env.FULL_PROOF ? 100_000 : 5_000;

/** Gives an account so many rows: of ten, six are safety events, two trips and two deliveries. */
async function fill(us: World, webhookId: string): Promise<void> {
  const tenths = size / 10;
  const numbers = (count: number) =>
    `with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})`;
  const id = `format('%08x-0000-4000-8000-', i) || substr(?1, 25)`;
  const about = [us.accountId, us.connection.id];
  await rowsIn(
    'main',
    `${numbers(6 * tenths)} insert into safety_events (id, account_id, connection_id, source_id, tsp, incident_types,
       translated_incident_types, event_risk, issued_on, started_at, vehicle_id, vehicle_name, vehicle_groups,
       max_speed_kph, created_at, updated_at)
     select ${id}, ?1, ?2, 'bulk-' || i, 'Motive', '["hard_brake"]', '["HardBrake"]', 3, 1, 1700000000000 + i * 1000, 'v',
       'Truck', '[]', i / 7.0, 1, 1 from n`,
    ...about,
  );
  await rowsIn(
    'main',
    `${numbers(2 * tenths)} insert into trips (id, account_id, connection_id, source_id, vehicle_id, started_at, created_at,
       updated_at) select ${id}, ?1, ?2, 'bulk-' || i, 'v', 1700000000000 + i * 1000, 1, 1 from n`,
    ...about,
  );
  await rowsIn(
    'main',
    `${numbers(2 * tenths)} insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at,
       finished_at) select ?2, ${id}, ?1, 'e' || i, 0, 'delivered', 1, 1 from n`,
    us.accountId,
    webhookId,
  );
}

it('what a killed call had claimed is due in the new home', async () => {
  const us = await world();
  const { data: webhook } = await as(us.apiToken).post<{ id: string }>('/webhook', webhookBody(us));
  const madeAt = Date.now() - 2 * leaseMs;
  await rowsIn(
    'main',
    `insert into deliveries (webhook_id, id, account_id, event_id, level, status, claimed_until)
     values (?1, ?2, ?3, 'e', 0, 'pending', ?4)`,
    webhook.id,
    newId(madeAt),
    us.accountId,
    madeAt + leaseMs,
  );
  await moveTo(us.accountId, 'eu');
  const found = 'select 1 from deliveries where webhook_id = ?1 and next_attempt_at is not null';
  expect(await rowsIn('eu', found, webhook.id)).toHaveLength(1);
});

it('refuses the writes of a large account for as long as it said at most', { timeout: 600_000 }, async () => {
  const us = await world();
  const { data: webhook } = await as(us.apiToken).post<{ id: string }>('/webhook', webhookBody(us));
  await fill(us, webhook.id);
  const { data: asked } = await operator.get<MoveProgress>(`/operator/accounts/${us.accountId}/move`);
  expect(asked.estimate?.rows).toBeGreaterThan(size);
  const began = Date.now();
  const done = await moveTo(us.accountId, 'eu');
  const [{ n } = {}] = await rowsIn(
    'eu',
    `select count(*) as n from safety_events where connection_id = ?1 and source_id like 'bulk-%'`,
    us.connection.id,
  );
  expect(n).toBe(0.6 * size);
  expect(done.refusedForMs).toBeGreaterThan(0);
  expect(done.refusedForMs).toBeLessThan(1000 * (asked.estimate?.seconds ?? 0));
  if (env.FULL_PROOF)
    console.warn(
      `${done.copied} rows in ${Date.now() - began} ms; writes refused for ${done.refusedForMs} ms`,
    );
});

it('refuses writes meanwhile, but of no other account, shows lists and the overview, and logs no fault', async () => {
  const [us, them] = [await world(), await world()];
  const { cookie } = await signIn(us);
  await beginMove(env, us.accountId, 'eu');
  const log = vi.spyOn(console, 'warn');
  const written = await as(us.connection.ingestKey).send(vehicle());
  expect([written.status, written.headers.get('retry-after')]).toEqual([503, '10']);
  expect((await as(them.connection.ingestKey).send(vehicle())).status).toBe(200);
  expect((await as(us.apiToken).get('/webhooks')).status).toBe(200);
  expect((await ask('GET', '/portal', { cookie })).status).toBe(200);
  expect(log).not.toHaveBeenCalled();
});

it('claims no delivery, no pull and no fan-out, and goes on with all once the move is cancelled', async () => {
  receiver();
  const us = await world();
  const { data: webhook } = await as(us.apiToken).post<{ id: string }>('/webhook', webhookBody(us));
  await rowsIn(
    'main',
    `insert into pulls (connection_id, account_id, secrets, credential_hash, base_url, organisation, organisation_id, history_days,
       connected_at, due_at) values (?1, ?2, '{}', ?1, 'https://x.example.com', 'Acme', 'Acme', 1, 1, 1)`,
    us.connection.id,
    us.accountId,
  );
  await rowsIn(
    'main',
    `insert into fan_outs values ('f', ?1, ?2, 2, '[{"eventId":"e","level":0,"priority":3}]', '', ?3)`,
    us.accountId,
    us.connection.id,
    Date.now() + 1000,
  );
  await rowsIn(
    'main',
    `insert into deliveries (webhook_id, id, account_id, event_id, level, status, next_attempt_at)
     values (?1, 'd', ?2, 'e', 0, 'pending', 1)`,
    webhook.id,
    us.accountId,
  );
  await beginMove(env, us.accountId, 'eu');
  await handle(env, { fanOut: 'f' });
  await handle(env, { accountId: us.accountId, webhookId: webhook.id, worker: 1 });
  expect(
    await rowsIn('main', 'select id, status from deliveries where account_id = ?1', us.accountId),
  ).toEqual([{ id: 'd', status: 'pending' }]);
  expect(await dueConnections(env)).not.toContain(us.connection.id);
  await cancelMove(env, us.accountId);
  expect(await dueConnections(env)).toContain(us.connection.id);
  await rowsIn('main', 'delete from pulls');
  await handle(env, { fanOut: 'f' });
  expect(await rowsIn('main', 'select 1 from fan_outs where account_id = ?1', us.accountId)).toEqual([]);
});

/** How SQLite finds the rows of the moved table `t`. */
async function seeks(query: { sql: string; params: unknown[] }) {
  const plan = await rowsIn('main', `explain query plan ${query.sql}`, ...query.params);
  const steps = plan.map(({ detail }) => String(detail));
  expect(steps.join()).not.toMatch(/SCAN (deliveries|connections|webhooks|portal_users)\b(?! USING)/);
  const found = steps.filter((step) => / t( |$)/.test(step));
  expect(found, query.sql).toEqual([expect.stringMatching(/^SEARCH t USING/)]);
  return found.join();
}

it('seeks and counts the rows of all tables but three by index', async () => {
  const [db, id] = [openDatabase(env), crypto.randomUUID()];
  const tables = await movedTables(env);
  expect(tables.filter(({ owner }) => !owner).map(({ name }) => name)).toEqual([
    'fan_outs',
    'notifications',
    'sign_in_links',
  ]);
  for (const table of tables.filter(({ owner }) => owner)) {
    const after = [id, ...table.tail.map(({ isText }) => (isText ? 'x' : 5))];
    await seeks(pageStatements(db, table, id, undefined, 100)[0].getQuery());
    const further = await seeks(pageStatements(db, table, id, after, 100)[0].getQuery());
    if (table.tail.length > 0) expect(further).toMatch(/=\? AND \(?\w+.*>/);
    const count = countOf(table, id);
    await seeks(new SQLiteSyncDialect().sqlToQuery(sql`select ${count}`));
  }
});

it('cuts what it copies by bytes: a parameter of D1 has at most 2 MB, whatever the letters', () => {
  const values = Array.from({ length: 10 }, (_, i) => `${i}${'漢'.repeat(150_000)}`);
  const arrays = jsonArrays(values);
  for (const array of arrays) expect(new TextEncoder().encode(array).byteLength).toBeLessThan(2_000_000);
  expect(arrays.flatMap((array) => JSON.parse(array))).toEqual(values);
});
