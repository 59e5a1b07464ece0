import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { root } from '../../src/cli/project/paths.ts';
import type { Cloudflare } from '../support/node/cloudflare.ts';
import { cloud, copyProject, deploy, filesOf, project, snapshot } from '../support/node/deploy.ts';
import { startNetwork } from '../support/node/network.ts';

copyProject();

const name = 'fleet-data-service';
const unwell = 'Database does not respond';
const isAcme = (c: Context) => c.req.header('host') === 'api.example.com';
/** The service once it is deployed, with what its check finds: well, but for `acme`. */
const deployed = new Hono()
  .get('/health', (c) => c.json({ message: unwell }, isAcme(c) ? 503 : 200, { 'X-Request-Id': 'r' }))
  .post('/operator/check', async (c) => {
    const { schema } = await c.req.json<{ schema: string[] }>();
    const right = schema.some((one) => /^trigger event_came: [0-9a-f]{16}$/.test(one));
    const found = isAcme(c) ? { name: 'database', result: 'fault' } : { name: 'queue', result: 'ok' };
    const data = right ? [{ ...found, ms: 7, detail: 'seen' }] : [];
    return c.json({ status: 200, message: 'Checked', data });
  });
const nobody = new Hono();

/** A binding of a Worker. */
const bound = ({ workers }: Cloudflare, worker: string, binding: string) =>
  workers.get(worker)?.bindings.find(({ name }) => name === binding);
const migrationsOf = ({ databases }: Cloudflare) =>
  databases.map(({ sql }) =>
    sql
      .prepare('select name from d1_migrations order by name')
      .all()
      .map((row) => row.name),
  );
const idsOf = ({ databases, namespaces, queues }: Cloudflare) => [
  ...databases.map(({ uuid }) => uuid),
  ...namespaces.map(({ id }) => id),
  ...queues.map(({ queue_id }) => queue_id),
];

it('creates everything on a new account, goes on after failures, changes nothing that is there, and deploys another beside it', async () => {
  const host = `${name}.acme.workers.dev`;
  const { account, network, env } = await cloud([host, 'api.example.com'], deployed);
  const upload = `PUT workers/scripts/${name}`;
  const placed = { ...env, DEPLOY_LOCATION: 'weur' };

  // A database that cannot be migrated keeps new code away.
  account.brokenDatabase = 'fleet';
  const unmigrated = await deploy(placed);
  expect([unmigrated.code, unmigrated.err]).toEqual([
    1,
    expect.stringMatching(/^deploy: Applying the migrations failed: .*run it again.*\n$/),
  ]);
  const [before = '', after] = unmigrated.out.split('✓ Created the database fleet\n');
  expect(before).toContain(
    '! The new database is created in Western Europe (weur). This cannot be changed later.',
  );
  expect(after).toBeDefined();
  expect(account.workers.size).toBe(0);

  // What was made stays, and the keys are not lost.
  const keys = filesOf(join(project, '.local')).filter((file) => /\.keys?$/.test(file));
  const values = keys.map((file) => readFileSync(file, 'utf8'));
  expect(keys).toHaveLength(2);
  for (const file of keys) expect(statSync(file).mode & 0o777).toBe(0o600);

  delete account.brokenDatabase;
  account.calls.length = 0;
  const { code, out, err } = await deploy(
    { ...placed, DEPLOY_REPLICAS: 'true' },
    ...['--email-from', 'portal@example.com'],
  );
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/Applied .+/);
  expect(out).not.toContain('Created the database fleet\n');
  expect(account.databases.map(({ name, region, jurisdiction }) => [name, jurisdiction ?? region])).toEqual([
    ['fleet', 'weur'],
  ]);
  expect(account.namespaces.map(({ jurisdiction }) => jurisdiction)).toEqual([undefined]);
  expect(account.buckets).toEqual([{ name: 'fleet-archive', location: 'weur' }]);
  const made = idsOf(account);
  expect(made).toHaveLength(3);
  // By the upload every migration is applied: new code never meets an old database.
  expect(migrationsOf(account)).toEqual([readdirSync(join(root, 'migrations')).sort()]);
  const lastQuery = account.calls.findLastIndex((call) => call.endsWith('/query'));
  expect(account.calls.indexOf(upload)).toBeGreaterThan(lastQuery);
  expect(out).toContain(`https://${host}`);
  expect(out).toContain('It responds and is healthy');
  expect(out).toContain('npm run fleet -- account create');
  expect(out).toMatch(/Checked https:.*\n[^!]*│ queue │ ok +│ 7 ms │ seen/);
  expect(keys.map((file) => readFileSync(file, 'utf8'))).toEqual(values);
  for (const secret of values) expect(out).not.toContain(secret.trim());
  // Replicas are turned on before the Worker reads them, and it runs beside its clients, where they are.
  expect(out).toContain('✓ Lists are read from replicas of the database');
  expect(account.databases.map(({ replicated }) => replicated)).toEqual([true]);
  expect(account.calls.indexOf(upload)).toBeGreaterThan(account.calls.lastIndexOf('PUT d1/database/:id'));
  expect(bound(account, name, 'READ_REPLICAS')?.text).toBe('true');
  const worker = account.workers.get(name);
  expect(worker?.placement ?? {}).not.toHaveProperty('mode');
  expect([...(worker?.secrets.values() ?? [])].sort()).toEqual(values.map((text) => text.trim()).sort());
  expect(worker?.crons).toEqual(['* * * * *']);
  expect(bound(account, name, 'ORIGIN')?.text).toBe(`https://${host}`);
  expect(bound(account, name, 'EMAIL')).toBeDefined();
  expect(bound(account, name, 'EMAIL_FROM')?.text).toBe('portal@example.com');
  expect(account.queues).toMatchObject([
    { queue_name: 'fleet-deliveries', consumers: [{ settings: expect.anything() }] },
  ]);

  // A machine that has never deployed this learns the settings from the Worker.
  rmSync(join(project, '.local'), { recursive: true });
  const later = await deploy({ ...env, DEPLOY_LOCATION: 'oc' });
  expect([later.code, later.err]).toEqual([0, '']);
  expect(later.out).toContain('! The database fleet exists already: --location oc cannot move it\n');
  expect(later.out).toContain('No migrations to apply');
  expect(later.out).toContain('! Not checked: set FLEET_URL and FLEET_OPERATOR_KEY');
  expect(later.out).not.toContain('Created');
  expect(later.out).toContain('--replicas: true\n');
  expect(bound(account, name, 'READ_REPLICAS')?.text).toBe('true');
  expect(bound(account, name, 'EMAIL_FROM')?.text).toBe('portal@example.com');
  expect(idsOf(account)).toEqual(made);
  expect(account.buckets).toHaveLength(1);

  // Another stands beside it and shares nothing: on a domain of its own, without what the account lacks by now.
  Object.assign(account, {
    unknownFlag: 'queue_consumer_no_wait_for_wait_until',
    r2: false,
    cutTrigger: 'event_came',
  });
  account.calls.length = 0;
  const production = structuredClone(account.workers.get(name));
  const second = await deploy(
    { ...env, DEPLOY_REPLICAS: '' },
    ...['--name', 'acme', '--domain', 'api.example.com', '--location', 'oc', '--jurisdiction', 'eu'],
  );
  expect([second.code, second.err]).toEqual([1, '']);
  expect(second.out).toMatch(/│ database │ fault +│ 7 ms │ seen/);
  expect(second.out).toContain('! database: Look at the database in the dashboard');
  expect(account.workers.get(name)).toEqual(production);
  expect(idsOf(account)).toEqual(expect.arrayContaining(made));
  expect(idsOf(account)).toHaveLength(made.length + 3);
  const acme = account.workers.get('acme');
  const counters = production?.bindings.flatMap(({ namespace_id = [] }) => namespace_id) ?? [];
  const limiters = acme?.bindings.filter(({ type }) => type === 'ratelimit') ?? [];
  // The ids in wrangler.toml are those of every deployment.
  expect(limiters).toHaveLength(10);
  for (const { namespace_id } of limiters) expect(namespace_id).toMatch(/^\d{7,10}$/);
  for (const own of [...made, ...counters, 'fleet-deliveries', 'fleet-archive'])
    expect(JSON.stringify(acme?.bindings)).not.toContain(`"${own}"`);
  expect(network.refused.filter((refused) => !/sparrow|registry|cloudflare/.test(refused))).toEqual([]);
  network.close();

  expect(second.out).toContain('in the jurisdiction eu. This cannot be changed later.');
  expect(second.out).toContain(`! It responds, but is not healthy: 503 ${unwell}`);
  expect(second.out).toContain('FLEET_URL=https://api.example.com');
  const [database, namespace, queue] = [account.databases, account.namespaces, account.queues].map((all) =>
    all.at(-1),
  );
  expect(database).toMatchObject({ name: 'acme-fleet', jurisdiction: 'eu' });
  expect(namespace).toMatchObject({ jurisdiction: 'eu' });
  expect(queue).toMatchObject({ queue_name: 'acme-fleet-deliveries', jurisdiction: 'eu' });
  expect(acme?.domains).toEqual(['api.example.com']);
  expect(bound(account, 'acme', 'ORIGIN')?.text).toBe('https://api.example.com');
  // Nobody named a sender or asked for replicas, so there are none.
  expect(acme?.bindings.filter(({ name }) => name.startsWith('EMAIL'))).toEqual([]);
  expect(account.calls).not.toContain('PUT d1/database/:id');
  expect(bound(account, 'acme', 'READ_REPLICAS')).toBeUndefined();
  expect(acme?.placement).toEqual({ mode: 'smart' });
  // The account has not turned on R2, and does not know the flag.
  expect(second.out).toContain('! This account has not turned on R2, so nothing is archived');
  expect(bound(account, 'acme', 'ARCHIVE')).toBeUndefined();
  expect(acme?.flags).toEqual(['global_fetch_strictly_public']);
  expect(second.out).toContain(`Cloudflare does not know the flag ${account.unknownFlag}`);
  expect(account.calls).toContain('POST d1/database/:id/import');
  expect(migrationsOf(account)[1]).toEqual(readdirSync(join(root, 'migrations')).sort());
});

describe('npm run deploy -- --dry-run', () => {
  it('says what it would do, calls nobody, and changes nothing', async () => {
    const network = await startNetwork(nobody, [], nobody);
    const before = snapshot();
    // What a workflow passes for variables that are not set.
    const unset = Object.fromEntries(['NAME', 'DOMAIN', 'LOCATION'].map((name) => [`DEPLOY_${name}`, '']));
    try {
      const { code, out } = await deploy(
        { ...network.env, CLOUDFLARE_API_BASE_URL: network.baseUrl, ...unset },
        '--dry-run',
      );
      expect(code).toBe(0);
      expect(snapshot()).toEqual(before);
      expect(out).toContain('--hot-days: 180\n');
      expect(out).toContain('--domain: not set\n');
      expect(out).toMatch(/near the machine that deploys, without a --location .*cannot be changed later\./);
      expect(out).toMatch(/the database fleet,\s+the bucket fleet-archive and the queues fleet-deliveries;/);
      expect(out).toMatch(/upload the Worker \(.* gzip: [\d.]+ KiB\)/);
      expect(out).toContain('Nothing was called or changed.');
    } finally {
      network.close();
    }
  });

  it('takes its settings from a file as well, and says in one line what is wrong with them', async () => {
    mkdirSync(join(project, '.local/deploy'), { recursive: true });
    writeFileSync(join(project, '.local/deploy/settings.env'), 'DEPLOY_NAME=Acme!\n');
    const { code, err } = await deploy({}, '--dry-run');
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^error: option '--name .*DEPLOY_NAME.* up to 28.*\n$/),
    ]);
  });
});

it('without credentials it says how to sign in', async () => {
  const network = await startNetwork(nobody, [], nobody);
  try {
    const { code, err } = await deploy({ ...network.env, CLOUDFLARE_API_BASE_URL: network.baseUrl });
    expect([code, err]).toEqual([1, expect.stringContaining('npx wrangler login')]);
  } finally {
    network.close();
  }
});
