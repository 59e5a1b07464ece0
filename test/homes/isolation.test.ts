import { env } from 'cloudflare:workers';
import { beforeEach, expect, it, vi } from 'vitest';
import { through } from '../../src/platform/db/through.ts';
import { askHomes } from '../../src/platform/homes/each.ts';
import { nameOf } from '../../src/platform/homes/homes.ts';
import { receiver } from '../support/receiver.ts';
import { safetyEvent, vehicle } from '../support/records.ts';
import { minute } from '../support/service.ts';
import { as, call, operator, type World, webhookBody, world } from '../support/world.ts';

/** The bindings, of which those of the home `eu` can be taken away and brought back. */
function taken() {
  const { DB_EU } = env as unknown as { DB_EU: D1Database };
  let down = false;
  const failing = () => Promise.reject(new Error('D1_ERROR: D1 DB is overloaded.'));
  return {
    bindings: { ...env, DB_EU: through(DB_EU, (run) => (down ? failing() : run())) } as Env,
    takeAway: () => {
      down = true;
    },
    bringBack: () => {
      down = false;
    },
  };
}

let home: ReturnType<typeof taken>;
let worlds: { main: World; eu: World; us2: World };
beforeEach(async () => {
  home = taken();
  worlds = {
    main: await world(),
    eu: await world({ home: 'eu' }),
    us2: await world({ home: 'us2' }),
  };
});

const list = ({ apiToken, connection }: World) =>
  as(apiToken, { 'connection-id': connection.id }, home.bindings).get('/vehicles');
const ingest = ({ connection }: World, ...records: object[]) =>
  as(connection.ingestKey, {}, home.bindings).send(...records);
const ask = <T>(method: string, path: string, body?: object) => {
  const headers = { authorization: `Bearer ${env.OPERATOR_KEY}` };
  return call<T>(method, path, { headers, body, bindings: home.bindings });
};

it('serves the accounts of its other homes while one is away, and its own again when it is back', async () => {
  const hooks = receiver();
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  for (const us of Object.values(worlds)) await as(us.apiToken).post('/webhook', webhookBody(us));
  home.takeAway();
  const send = (us: World, n: number) => ingest(us, vehicle(), safetyEvent({ sourceId: `e${n}` }));
  // Under load: all of them at the same time, again and again.
  for (let n = 0; n < 5; n++) {
    const { main, eu, us2 } = worlds;
    const served = await Promise.all([send(main, n), send(us2, n), list(main), list(us2)]);
    expect(served.map(({ status }) => status)).toEqual(Array(4).fill(200));
    const refused = await Promise.all([list(eu), ingest(eu, vehicle())]);
    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    expect(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0)).toBe(true);
    await minute(home.bindings);
  }
  await vi.waitFor(() => expect(hooks.got).toHaveLength(10), { timeout: 20_000 });

  home.bringBack();
  expect((await send(worlds.eu, 0)).status).toBe(200);
  expect((await list(worlds.eu)).status).toBe(200);
  await vi.waitFor(() => expect(hooks.got).toHaveLength(11), { timeout: 20_000 });
});

it('says on /health and to operators which home is away, and shows the others', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  await minute(home.bindings);
  const well = await ask<{ homes: object }>('GET', '/health');
  expect(well.status).toBe(200);
  expect(Object.keys(well.data.homes)).toEqual(['main', 'eu', 'us2']);
  home.takeAway();
  expect(await ask('GET', '/health')).toMatchObject({
    status: 503,
    message: 'eu: Database does not respond',
    data: { homes: { main: { database: 'ok' }, eu: { database: 'unavailable' } } },
  });
  expect(await ask('GET', '/operator/status')).toMatchObject({
    data: { problem: 'eu: Database does not respond', pending: 0 },
  });
});

it('finds what operators look up in homes that are there, and does not say that the rest is unknown', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  home.takeAway();
  const tokens = ({ accountId }: World) => ask('GET', `/operator/accounts/${accountId}/tokens`);
  expect((await tokens(worlds.us2)).status).toBe(200);
  expect((await tokens(worlds.eu)).status).toBe(503);
});

it('waits five seconds at most for a home that does not answer', async () => {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const { DB_EU } = env as unknown as { DB_EU: D1Database };
  const bindings = { ...env, DB_EU: through(DB_EU, () => new Promise<never>(() => {})) };
  const asked = await askHomes(bindings, (home) => home.DB.prepare('select 1').all());
  expect(asked.map(([home]) => nameOf(home))).toEqual(['main', 'us2']);
});

it('runs the jobs of the minute in each home, also when one fails', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  home.takeAway();
  await minute(home.bindings);
  expect(log.mock.calls.flat().join()).toContain('"home":"eu"');
  for (const name of ['DB', 'DB_US2']) {
    const db = (env as unknown as Record<string, D1Database>)[name];
    const at = await db?.prepare('select at from sweeps').first<number>('at');
    expect(Date.now() - Number(at)).toBeLessThan(60_000);
  }
  expect((await operator.get('/operator/status')).status).toBe(200);
});
