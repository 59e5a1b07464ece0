import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import type { Cloudflare } from '../../support/node/cloudflare.ts';
import { cloud, copyProject, deploy, project } from '../../support/node/deploy.ts';

copyProject();

const domain = ['--domain', 'fleet.example.com'];
const healthy = new Hono().get('/health', (c) => c.json({ status: 200 }, 200, { 'X-Request-Id': 'r' }));

/** What the Worker is bound to in a home, by the name of the binding. */
const boundTo = ({ workers }: Cloudflare, home: string) =>
  Object.fromEntries(
    (workers.get('fleet-data-service')?.bindings ?? [])
      .filter(({ name }) => name.endsWith(home))
      .map((binding) => [binding.name, binding]),
  );

it('adds a home, goes on after a failure, and lets later deploys know it', async () => {
  const { account, network, env } = await cloud(['fleet.example.com'], healthy);
  const add = [...domain, '--home', 'eu', '--jurisdiction', 'eu'];
  // The place is that of the home; main's is in the environment.
  const placed = { ...env, DEPLOY_LOCATION: 'enam' };
  account.brokenDatabase = 'fleet-eu';
  const failed = await deploy(placed, ...add);
  expect(failed.out).toContain('! The database of the home eu is created in the jurisdiction eu');
  expect(failed.code).toBe(1);
  expect(failed.err).toContain('Applying the migrations in the home eu failed');
  // A home that cannot be migrated keeps new code from all of them.
  expect(account.workers.size).toBe(0);
  expect(account.databases.map(({ name, region, jurisdiction }) => [name, jurisdiction ?? region])).toEqual([
    ['fleet', 'enam'],
    ['fleet-eu', 'eu'],
  ]);
  expect(account.buckets).toEqual([
    { name: 'fleet-archive', location: 'enam' },
    { name: 'fleet-archive-eu', jurisdiction: 'eu' },
  ]);

  delete account.brokenDatabase;
  const done = await deploy(placed, ...add);
  expect([done.code, done.err]).toEqual([0, '']);
  expect(done.out).not.toContain('Created');
  expect(done.out).toMatch(/Applied .+ in the home eu/);
  const [main, eu] = account.queues.map(({ queue_name, jurisdiction, consumers }) => ({
    ...{ name: queue_name, jurisdiction },
    settings: consumers.map(({ settings }) => settings),
  }));
  expect(main?.settings).toHaveLength(1);
  expect(eu).toEqual({ name: 'fleet-deliveries-eu', jurisdiction: 'eu', settings: main?.settings });
  const bound = boundTo(account, '_EU');
  expect(bound).toMatchObject({
    DB_EU: { id: account.databases[1]?.uuid },
    DELIVERIES_EU: { queue_name: 'fleet-deliveries-eu' },
    ARCHIVE_EU: { bucket_name: 'fleet-archive-eu', jurisdiction: 'eu' },
  });

  // A machine that has never deployed this learns of the home from the Worker.
  rmSync(join(project, '.local'), { recursive: true });
  const later = await deploy(env, ...domain);
  expect([later.code, later.err]).toEqual([0, '']);
  expect(later.out).toContain('No migrations to apply in the home eu');
  expect(later.out).not.toContain('Created');
  expect(boundTo(account, '_EU')).toEqual(bound);
  network.close();
});

it.each([
  ['EU', "--home: A home's name is up to 16 lowercase letters and digits"],
  ['main', '--home main is there already'],
  ['fleet', '--home cannot be fleet'],
])('refuses --home %s', async (home, line) => {
  const { code, err } = await deploy({}, '--dry-run', '--home', home);
  expect([code, err]).toEqual([1, expect.stringContaining(`deploy: ${line}`)]);
});

it('shows in a dry run what a new home gets, and where', async () => {
  const { code, out } = await deploy({}, '--dry-run', '--home', 'eu', '--jurisdiction', 'eu');
  expect(code).toBe(0);
  expect(out).toMatch(
    /home eu the database fleet-eu, the bucket fleet-archive-eu and the queues fleet-deliveries-eu/,
  );
  expect(out).toContain('is created in the jurisdiction eu');
  expect(out).toMatch(/data: a new database is created near the machine that deploys/);
});
