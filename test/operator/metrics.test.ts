import { env } from 'cloudflare:workers';
import { newId } from '#src/core/platform/db/ids.ts';
import { sweepAndNote } from '#src/operator/health/service.ts';
import { unattempted } from '#test/support/deliveries.ts';
import { accident } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { fetchWith } from '#test/support/service.ts';
import { story } from '#test/support/story.ts';

const tale = story();

/** The value of each metric by its name, and label if it has one. */
async function scrape({ key = env.OPERATOR_KEY, bindings = env } = {}) {
  const headers = { authorization: `Bearer ${key}` };
  const request = new Request('https://api.example.com/operator/metrics', { headers });
  const response = await fetchWith(bindings, request);
  const lines = (await response.text()).split('\n').filter((line) => line && !line.startsWith('#'));
  const values = new Map(
    lines.map((line) => {
      const [, name = '', label = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      return [name + label, Number(value)];
    }),
  );
  return { status: response.status, values };
}

it('say how the service is doing, to operators alone', async () => {
  await sweepAndNote(env);
  await rows('update connections set health_status = 3 where id = ?1', tale.us.connection.id);
  const { status, values } = await scrape();
  expect(status).toBe(200);
  expect(values.get('fleet_database_up')).toBe(1);
  expect(values.get('fleet_database_bytes')).toBeGreaterThan(10_000);
  expect(values.get('fleet_sweep_age_seconds')).toBeLessThan(60);
  expect(values.get('fleet_connections_with_problems')).toBe(1);
  expect(values.get('fleet_pulls_due')).toBe(0);
  expect([...values.values()].every(Number.isFinite)).toBe(true);
  expect((await scrape({ key: 'wrong' })).status).toBe(401);
});

it('count deliveries by outcome, and say how old the oldest undelivered accident is', async () => {
  const hook = await tale.register();
  const before = (await scrape()).values;
  await tale.happen(3);
  await expect
    .poll(async () => (await scrape()).values.get('fleet_deliveries_this_houroutcome="delivered"'))
    .toBe((before.get('fleet_deliveries_this_houroutcome="delivered"') ?? 0) + 3);
  expect(before.get('fleet_accident_oldest_undelivered_seconds')).toBe(0);
  await unattempted(hook.id, () => tale.us.send(accident()));
  const older = newId(Date.now() - 600_000);
  await rows(`update deliveries set id = ?1 where status = 'pending'`, older);
  const { values } = await scrape();
  expect(values.get('fleet_accident_oldest_undelivered_seconds')).toBeGreaterThanOrEqual(600);
  expect(values.get('fleet_deliveries_pending')).toBe(1);
  for (const span of ['hour', 'day'])
    expect(values.get(`fleet_accidents_in_time_ratiospan="${span}"`)).toBe(0);
});

it('are fewer while the database does not respond', async () => {
  const DB = {
    prepare: () => {
      throw new Error('D1_ERROR: D1 DB is overloaded');
    },
  } as unknown as D1Database;
  const { status, values } = await scrape({ bindings: { ...env, DB } });
  expect(status).toBe(200);
  expect([...values.keys()]).toEqual(['fleet_database_up', 'fleet_queue_backlog']);
  expect(values.get('fleet_database_up')).toBe(0);
});
