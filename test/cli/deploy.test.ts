import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { root } from '../../src/cli/project/paths.ts';
import type { Cloudflare } from '../support/node/cloudflare.ts';
import { cloud, copyProject, deploy, filesOf, project, snapshot } from '../support/node/deploy.ts';
import { startNetwork } from '../support/node/network.ts';

copyProject();

const localFiles = () => filesOf(join(project, '.local'));

/** Where links of a Worker lead. */
const originOf = ({ workers }: Cloudflare, name: string) =>
  workers.get(name)?.bindings.find((binding) => binding.name === 'ORIGIN')?.text;
const bucketOf = ({ workers }: Cloudflare, name: string) =>
  workers.get(name)?.bindings.find((binding) => binding.name === 'ARCHIVE');
const readsReplicas = ({ workers }: Cloudflare) =>
  workers.get('fleet-data-service')?.bindings.find(({ name }) => name === 'READ_REPLICAS')?.text;
/** The calls that upload a Worker: the first, and those for a Worker that exists. */
const uploaded =
  /^(PUT workers\/scripts\/fleet-data-service|POST workers\/scripts\/fleet-data-service\/versions)$/;
/** Where what an account holds was created. */
const places = ({ databases, namespaces, queues }: Cloudflare) => ({
  databases: databases.map(({ region, jurisdiction }) => jurisdiction ?? region),
  others: [...namespaces, ...queues].map(({ jurisdiction }) => jurisdiction),
});
const healthy = new Hono().get('/health', (c) => c.json({ status: 200 }, 200, { 'X-Request-Id': 'r' }));
const nobody = new Hono();
const changes = ({ calls }: Cloudflare) => calls.filter((call) => !call.startsWith('GET '));

describe('npm run deploy', () => {
  const host = 'fleet-data-service.acme.workers.dev';

  it('creates everything on a new account, goes on after a failure, and changes nothing that is there', async () => {
    const { account, network, env } = await cloud([host], healthy);
    // The upload fails: what was made stays, and the keys are not lost.
    account.broken = 'PUT workers/scripts/fleet-data-service';
    const failed = await deploy({ ...env, DEPLOY_LOCATION: 'weur' });
    expect(failed.code).toBe(1);
    const [before = '', after] = failed.out.split('✓ Created the database fleet');
    expect(before).toContain(
      '! A new database is created in Western Europe (weur). This cannot be changed later.',
    );
    expect(after).toBeDefined();
    expect(places(account)).toEqual({ databases: ['weur'], others: [undefined, undefined] });
    expect(failed.err).toMatch(/^deploy: Deploying the Worker failed: .*run it again/);
    expect(failed.err.trim().split('\n')).toHaveLength(1);
    // By then every migration is applied: new code never meets an old database.
    const applied = account.databases[0]?.sql.prepare('select name from d1_migrations order by name').all();
    expect(applied?.map((row) => row.name)).toEqual(readdirSync(join(root, 'migrations')).sort());
    const lastQuery = account.calls.findLastIndex((call) => call.endsWith('/query'));
    expect(account.calls.indexOf(account.broken)).toBeGreaterThan(lastQuery);
    const made = {
      databases: account.databases.map(({ uuid }) => uuid),
      namespaces: account.namespaces.map(({ id }) => id),
      queues: account.queues.map(({ queue_name }) => queue_name).sort(),
    };
    expect(made.databases).toHaveLength(1);
    expect(made.namespaces).toHaveLength(1);
    expect(made.queues).toEqual(['fleet-deliveries']);
    expect(account.buckets).toEqual([{ name: 'fleet-archive', location: 'weur' }]);
    const keys = localFiles().filter((file) => /\.keys?$/.test(file));
    const values = keys.map((file) => readFileSync(file, 'utf8'));
    expect(keys).toHaveLength(2);
    for (const file of keys) expect(statSync(file).mode & 0o777).toBe(0o600);

    // Replicas are turned on before the Worker reads them, and only when that is asked for.
    const turnOn = 'PUT d1/database/:id';
    expect(account.calls).not.toContain(turnOn);
    account.broken = turnOn;
    account.calls.length = 0;
    const unreplicated = await deploy(env, '--replicas');
    expect(unreplicated.code).toBe(1);
    expect(unreplicated.err).toMatch(
      /^deploy: Turning on read replication failed: An unknown error .* run it again/,
    );
    expect(account.workers.size).toBe(0);

    delete account.broken;
    // By the last run nothing was left to create, and it is too late for another place.
    const { code, out } = await deploy(
      { ...env, DEPLOY_REPLICAS: 'true' },
      ...['--location', 'oc', '--email-from', 'portal@example.com'],
    );
    expect(code).toBe(0);
    expect(out).toContain('✓ Lists are read from replicas of the database');
    expect(account.databases[0]?.replicated).toBe(true);
    expect(readsReplicas(account)).toBe('true');
    expect(out).toContain('! The database fleet runs in weur, not in oc');
    expect(out).toContain('No migrations to apply');
    const creations = account.calls.filter((call) =>
      /^POST (d1\/database|storage\/kv\/namespaces|queues)$/.test(call),
    );
    expect(creations).toEqual([]);
    expect(account.buckets).toHaveLength(1);
    expect(bucketOf(account, 'fleet-data-service')).toMatchObject({ bucket_name: 'fleet-archive' });
    expect(out).toContain(`https://${host}`);
    // Beside its clients, where the replicas are.
    expect(account.workers.get('fleet-data-service')?.placement ?? {}).not.toHaveProperty('mode');
    expect(out).toContain('It responds and is healthy');
    expect(out).toContain('npm run fleet -- account create');
    expect(keys.map((file) => readFileSync(file, 'utf8'))).toEqual(values);
    for (const secret of values) expect(out).not.toContain(secret.trim());
    const worker = account.workers.get('fleet-data-service');
    expect([...(worker?.secrets.values() ?? [])].sort()).toEqual(values.map((text) => text.trim()).sort());
    expect(worker?.crons).toEqual(['* * * * *']);
    expect(originOf(account, 'fleet-data-service')).toBe(`https://${host}`);
    const mail = worker?.bindings.filter(({ name }) => name.startsWith('EMAIL')).map(({ name }) => name);
    expect(mail?.sort()).toEqual(['EMAIL', 'EMAIL_FROM']);
    expect(account.calls.filter((call) => uploaded.test(call))).toHaveLength(1);
    expect(made.databases).toEqual(account.databases.map(({ uuid }) => uuid));
    expect(network.refused.filter((refused) => !/sparrow|registry|cloudflare/.test(refused))).toEqual([]);
    network.close();
  });

  it('puts a named deployment on a domain of its own, and says when it is not well', async () => {
    const message = 'Database does not answer';
    const unwell = new Hono().get('/health', (c) => c.json({ message }, 503, { 'X-Request-Id': 'r' }));
    const { account, network, env } = await cloud(['api.example.com'], unwell);
    account.unknownFlag = 'queue_consumer_no_wait_for_wait_until';
    const { code, out } = await deploy(
      env,
      ...['--name', 'acme', '--domain', 'api.example.com', '--location', 'oc', '--jurisdiction', 'eu'],
    );
    expect(code).toBe(0);
    expect(places(account)).toEqual({ databases: ['eu'], others: ['eu', 'eu'] });
    expect(account.workers.get('acme')?.flags).toEqual(['global_fetch_strictly_public']);
    expect(out).toContain(`Cloudflare does not know the flag ${account.unknownFlag}`);
    expect(out).toContain(
      'in the jurisdiction eu, which overrides --location oc. This cannot be changed later.',
    );
    const elsewhere = await deploy(env, '--name', 'acme', '--jurisdiction', 'us');
    network.close();
    expect([elsewhere.code, elsewhere.err]).toEqual([
      1,
      expect.stringContaining('acme-fleet already exists in the jurisdiction eu, and cannot move to us'),
    ]);
    expect(out).toContain(`It responds, but is not healthy: 503 ${message}`);
    expect(out).toContain('FLEET_URL=https://api.example.com');
    const worker = account.workers.get('acme');
    expect(worker?.domains).toEqual(['api.example.com']);
    expect(originOf(account, 'acme')).toBe('https://api.example.com');
    // The ids in wrangler.toml are those of every deployment.
    const limiters = worker?.bindings.filter(({ type }) => type === 'ratelimit') ?? [];
    expect(limiters).toHaveLength(9);
    for (const { namespace_id } of limiters) expect(namespace_id).toMatch(/^\d{7,10}$/);
    // Nobody named a sender, so there is none.
    expect(worker?.bindings.filter(({ name }) => name.startsWith('EMAIL'))).toEqual([]);
    expect(account.databases.map(({ name }) => name)).toEqual(['acme-fleet']);
    expect(account.queues.map(({ queue_name }) => queue_name)).toEqual(['acme-fleet-deliveries']);
    const bucket = { name: 'acme-fleet-archive', jurisdiction: 'eu' };
    expect(account.buckets).toEqual([bucket]);
    expect(bucketOf(account, 'acme')).toMatchObject({ bucket_name: bucket.name, jurisdiction: 'eu' });
  });

  it('does without replicas unless told otherwise, and without an archive on an account that has not turned on R2', async () => {
    const { account, network, env } = await cloud([host], healthy);
    account.r2 = false;
    const { code, out } = await deploy({ ...env, DEPLOY_REPLICAS: '' });
    network.close();
    expect(code).toBe(0);
    expect(account.calls).not.toContain('PUT d1/database/:id');
    expect(readsReplicas(account)).toBeUndefined();
    expect(account.workers.get('fleet-data-service')?.placement).toEqual({ mode: 'smart' });
    expect(out).toContain('! This account has not turned on R2, so nothing is archived');
    expect(bucketOf(account, 'fleet-data-service')).toBeUndefined();
  });

  it('does not choose among several accounts', async () => {
    const { account, network, env } = await cloud([], nobody);
    account.others.push('b'.repeat(32));
    const { code, err } = await deploy(env);
    network.close();
    expect(code).toBe(1);
    expect(err).toContain('Set CLOUDFLARE_ACCOUNT_ID');
    for (const id of [account.id, ...account.others]) expect(err).toContain(id);
    expect(changes(account)).toEqual([]);
  });
});

it('an account without an address is told how to get one, before anything is created', async () => {
  const { account, network, env } = await cloud([], nobody);
  account.subdomain = undefined;
  const { code, err } = await deploy(env);
  network.close();
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(`cloudflare.com/${account.id}/workers/onboarding`),
  ]);
  expect(changes(account)).toEqual([]);
});

describe('npm run deploy -- --dry-run', () => {
  it('says what it would do, calls nobody, and changes nothing', async () => {
    const network = await startNetwork(nobody, [], nobody);
    const before = snapshot();
    // What a workflow passes for variables that are not set.
    const names = ['NAME', 'DOMAIN', 'EMAIL_FROM', 'RETENTION_DAYS', 'MAP_STYLE_URL', 'LOCATION'];
    names.push('JURISDICTION');
    const unset = Object.fromEntries(names.map((name) => [`DEPLOY_${name}`, '']));
    try {
      const { code, out } = await deploy(
        { ...network.env, CLOUDFLARE_API_BASE_URL: network.baseUrl, ...unset },
        '--dry-run',
      );
      expect(code).toBe(0);
      expect(out).toContain('mail: off');
      expect(out).toMatch(/near the machine that deploys\. This cannot be changed later\. .*--location/);
      expect(snapshot()).toEqual(before);
      expect(out).toContain('find or create the database fleet');
      expect(out).toMatch(/the queues? fleet-deliveries/);
      expect(out).toMatch(/upload the Worker \(.* gzip: [\d.]+ KiB\)/);
      expect(out).toContain('Nothing was called or changed.');
    } finally {
      network.close();
    }
  });

  it('takes its settings from a file as well', async () => {
    mkdirSync(join(project, '.local/deploy'), { recursive: true });
    writeFileSync(join(project, '.local/deploy/settings.env'), 'DEPLOY_NAME=Acme!\n');
    const { code, err } = await deploy({}, '--dry-run');
    expect([code, err]).toEqual([1, expect.stringContaining('--name must be up to 30')]);
  });

  it.each([
    ['--name', 'Fleet!', '--name must be up to 30 lowercase letters'],
    ['--domain', 'https://api.example.com/x', '--domain must be a host name'],
    ['--email-from', 'nobody', '--email-from must be an email address'],
    ['--retention-days', '3', '--retention-days must be a whole number of days from 7'],
    ['--location', 'mars', '--location must be one of wnam, enam, weur, eeur, apac, oc, not "mars"'],
    ['--replicas', 'maybe', '--replicas must be true or false'],
    ['--jurisdiction', 'uk', '--jurisdiction must be one of eu, us, fedramp, not "uk"'],
  ])('refuses %s %s in one line', async (option, value, line) => {
    const { code, err } = await deploy({}, '--dry-run', option, value);
    expect(code).toBe(1);
    expect(err).toContain(`deploy: ${line}`);
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

it('without credentials it says how to sign in', async () => {
  const network = await startNetwork(nobody, [], nobody);
  try {
    const { code, err } = await deploy({ ...network.env, CLOUDFLARE_API_BASE_URL: network.baseUrl });
    expect(code).toBe(1);
    expect(err).toContain('npx wrangler login');
  } finally {
    network.close();
  }
});
