// More than 15 s: eight deploys, each with wrangler.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, Hono } from 'hono';
import { root } from '#src/cli/project/paths.ts';
import type { Binding, Cloudflare } from '#test/support/node/cloudflare.ts';
import {
  cloud,
  copyProject,
  deploy,
  filesOf,
  project,
  snapshot,
} from '#test/support/node/deploy.ts';
import { startNetwork } from '#test/support/node/network.ts';

copyProject();

const name = 'fleet-data-service';
const unwell = 'Database does not respond';
const isAcme = (c: Context) => c.req.header('host') === 'api.example.com';
let account: Cloudflare;
/** The service once it is deployed, with what its check finds: well, but for `acme`. */
const deployed = new Hono()
  .get('/health', (c) =>
    c.json({ message: unwell }, isAcme(c) ? 503 : 200, {
      'X-Request-Id': 'r',
      'Worker-Version': account.workers.get(isAcme(c) ? 'acme' : name)?.version ?? '',
    }),
  )
  .post('/operator/check', async (c) => {
    const { schema } = await c.req.json<{ schema: string[] }>();
    const right = schema.some((one) => /^trigger event_came: [0-9a-f]{16}$/.test(one));
    const found = isAcme(c)
      ? { name: 'database', result: 'fault' }
      : { name: 'queue', result: 'ok' };
    const data = right ? [{ ...found, ms: 7, detail: 'seen' }] : [];
    return c.json({ status: 200, message: 'Checked', data });
  });
const nobody = new Hono();

const migrations = readdirSync(join(root, 'migrations')).sort();
const migrationsOf = ({ databases }: Cloudflare) =>
  databases.map(({ sql }) =>
    sql
      .prepare('select name from d1_migrations order by name')
      .all()
      .map((row) => row.name),
  );
const storesOf = ({ databases, namespaces, buckets, queues }: Cloudflare) => [
  ...databases.map(
    ({ name, region, jurisdiction }) => `database ${name} in ${jurisdiction ?? region}`,
  ),
  ...namespaces.map(({ title, jurisdiction }) => `namespace ${title} in ${jurisdiction}`),
  ...buckets.map(
    ({ name, location, jurisdiction }) => `bucket ${name} in ${jurisdiction ?? location}`,
  ),
  ...queues.map(({ queue_name, jurisdiction }) => `queue ${queue_name} in ${jurisdiction}`),
];
/** The texts of a Worker's bindings, by their names. */
const bound = ({ workers }: Cloudflare, worker: string) =>
  Object.fromEntries(
    workers.get(worker)?.bindings.map((one) => [one.name, one.text ?? 'bound']) ?? [],
  );

it('creates everything, goes on after failures, and deploys another beside it', async () => {
  const host = `${name}.acme.workers.dev`;
  const { network, env, ...found } = await cloud([host, 'api.example.com'], deployed);
  account = found.account;
  const upload = `PUT workers/scripts/${name}`;
  const placed = { ...env, DEPLOY_LOCATION: 'weur' };

  // A database that cannot be migrated keeps new code away.
  account.brokenDatabase = 'fleet';
  const unmigrated = await deploy(placed);
  expect(unmigrated.code).toBe(1);
  expect(unmigrated.err).toMatch(/^deploy: Applying the migrations failed: .*run it again.*\n$/);
  expect(unmigrated.out).toMatch(
    /! The new database is created at the location weur\. This cannot be changed later\.\n[\s\S]*✓ Created the database fleet\n/,
  );
  expect(account.workers.size).toBe(0);

  // What was made stays, and the keys are not lost.
  const keys = filesOf(join(project, '.local')).filter((file) => /\.keys?$/.test(file));
  const values = keys.map((file) => readFileSync(file, 'utf8'));
  expect(keys.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);

  // Cloudflare does not know a new Worker everywhere at once.
  delete account.brokenDatabase;
  account.lateWorker = 1;
  account.calls.length = 0;
  const { code, out, err } = await deploy(
    { ...placed, DEPLOY_REPLICAS: 'true' },
    ...['--email-from', 'portal@example.com'],
  );
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/Applied .+/);
  expect(out).not.toContain('Created');
  const stores = storesOf(account);
  expect(stores).toEqual([
    'database fleet in weur',
    `namespace ${name}-tokens in undefined`,
    'bucket fleet-archive in weur',
    'queue fleet-deliveries in undefined',
  ]);
  // By the upload every migration is applied: new code never meets an old database.
  expect(migrationsOf(account)).toEqual([migrations]);
  const lastQuery = account.calls.findLastIndex((call) => call.endsWith('/query'));
  expect(account.calls.indexOf(upload)).toBeGreaterThan(lastQuery);
  for (const text of [
    `https://${host}`,
    'It responds and is healthy',
    'npm run fleet -- account create',
  ])
    expect(out).toContain(text);
  expect(out).toMatch(/Checked https:.*\n[^!]*\nqueue +ok +7 ms +seen/);
  expect(keys.map((file) => readFileSync(file, 'utf8'))).toEqual(values);
  for (const secret of values) expect(out).not.toContain(secret.trim());
  expect(out).toMatch(
    /password manager\. .*\n +\S+operator\.key +OPERATOR_KEY\n +\S+encryption\.keys +ENCRYPTION_KEYS\n[\s\S]*✓ Deployed/,
  );
  // Replicas are turned on before the Worker reads them, and it runs where they are.
  expect(out).toContain('✓ Lists are read from replicas of the database');
  expect(account.databases.map(({ replicated }) => replicated)).toEqual([true]);
  expect(account.calls.indexOf(upload)).toBeGreaterThan(
    account.calls.lastIndexOf('PUT d1/database/:id'),
  );
  const worker = account.workers.get(name);
  expect(worker?.placement ?? {}).not.toHaveProperty('mode');
  expect([...(worker?.secrets.values() ?? [])].sort()).toEqual(
    values.map((text) => text.trim()).sort(),
  );
  expect(worker?.crons).toEqual(['* * * * *']);
  const told = { READ_REPLICAS: 'true', EMAIL: 'bound', EMAIL_FROM: 'portal@example.com' };
  expect(bound(account, name)).toMatchObject({ ...told, ORIGIN: `https://${host}` });
  expect(account.queues).toMatchObject([{ consumers: [{ settings: expect.anything() }] }]);

  // A machine that has never deployed this learns the settings from the Worker.
  rmSync(join(project, '.local'), { recursive: true });
  account.calls.length = 0;
  const later = await deploy({ ...env, DEPLOY_LOCATION: 'oc' });
  expect([later.code, later.err]).toEqual([0, '']);
  expect(account.calls).not.toContain('PUT d1/database/:id');
  for (const text of [
    '! The database fleet exists already: --location oc cannot move it\n',
    'No migrations to apply',
    '! Not checked: set FLEET_URL and FLEET_OPERATOR_KEY',
    '--replicas: true\n',
  ])
    expect(later.out).toContain(text);
  expect(later.out).not.toContain('Created');
  expect(bound(account, name)).toMatchObject(told);
  expect(storesOf(account)).toEqual(stores);

  // Another stands beside it and shares nothing, without what the account lacks by now.
  Object.assign(account, { unknownFlag: 'queue_consumer_no_wait_for_wait_until', r2: false });
  account.calls.length = 0;
  const production = structuredClone(account.workers.get(name));
  const second = await deploy(
    { ...env, DEPLOY_REPLICAS: '' },
    ...[
      '--name',
      'acme',
      '--domain',
      'api.example.com',
      '--location',
      'oc',
      '--jurisdiction',
      'eu',
    ],
  );
  network.close();
  expect([second.code, second.err]).toEqual([1, '']);
  expect(second.out).toMatch(/^database +fault +7 ms +seen/m);
  for (const text of [
    '! Database: Look at the database in the dashboard',
    'in the jurisdiction eu. This cannot be changed later.',
    `! It responds, but is not healthy: 503 ${unwell}`,
    'FLEET_URL=https://api.example.com',
    '! This account has not turned on R2, so nothing is archived',
    `Cloudflare does not know the flag ${account.unknownFlag}`,
  ])
    expect(second.out.toLowerCase()).toContain(text.toLowerCase());
  expect(account.workers.get(name)).toEqual(production);
  expect(storesOf(account).filter((store) => !stores.includes(store))).toEqual([
    'database acme-fleet in eu',
    'namespace acme-tokens in eu',
    'queue acme-fleet-deliveries in eu',
  ]);
  expect(migrationsOf(account)).toEqual([migrations, migrations]);
  const acme = account.workers.get('acme');
  const ids = (bindings: Binding[] = []) =>
    bindings.flatMap(({ id, namespace_id }) => id ?? namespace_id ?? []);
  expect(ids(acme?.bindings)).toHaveLength(2 + 13);
  expect(ids(acme?.bindings).filter((id) => ids(production?.bindings).includes(id))).toEqual([]);
  for (const own of ['fleet-deliveries', 'fleet-archive'])
    expect(JSON.stringify(acme?.bindings)).not.toContain(`"${own}"`);
  expect(network.refused.filter((refused) => !/sparrow|registry|cloudflare/.test(refused))).toEqual(
    [],
  );
  expect([acme?.domains, acme?.flags]).toEqual([
    ['api.example.com'],
    ['global_fetch_strictly_public'],
  ]);
  expect(bound(account, 'acme').ORIGIN).toBe('https://api.example.com');
  // Nobody named a sender or asked for replicas, and there is no bucket.
  expect(
    Object.keys(bound(account, 'acme')).filter((one) => /EMAIL|REPLICAS|ARCHIVE/.test(one)),
  ).toEqual([]);
  expect(account.calls).not.toContain('PUT d1/database/:id');
  expect(acme?.placement).toEqual({ mode: 'smart' }); // the database does not say where it is
});

it('restores a dump where it was, and deploys nothing', async () => {
  const { account, network, env } = await cloud([], nobody);
  const dump = join(project, 'fleet.sql');
  const missing = await deploy(env, '--restore', dump);
  expect([missing.code, missing.err]).toEqual([1, `deploy: There is no ${dump}.\n`]);
  writeFileSync(dump, "create table accounts (name text); insert into accounts values ('Acme');");
  const restored = await deploy(env, '--restore', dump, '--location', 'weur');
  expect([restored.code, restored.err]).toEqual([0, '']);
  expect(storesOf(account).slice(0, 3)).toContain('bucket fleet-archive in weur');
  expect(
    account.databases.map(({ region, sql }) => [
      region,
      sql.prepare('select * from accounts').all(),
    ]),
  ).toEqual([['weur', [{ name: 'Acme' }]]]);
  expect(account.workers.size).toBe(0);
  const again = await deploy(env, '--restore', dump);
  network.close();
  expect([again.code, again.err]).toEqual([
    1,
    expect.stringContaining('it has tables such as accounts'),
  ]);
});

it('deploy --dry-run says what it would do, calls nobody, and changes nothing', async () => {
  const network = await startNetwork(nobody, [], nobody);
  const before = snapshot();
  // What a workflow passes for variables that are not set.
  const unset = Object.fromEntries(
    ['NAME', 'DOMAIN', 'LOCATION'].map((name) => [`DEPLOY_${name}`, '']),
  );
  try {
    const { code, out } = await deploy(
      { ...network.env, CLOUDFLARE_API_BASE_URL: network.baseUrl, ...unset },
      '--dry-run',
    );
    expect(code).toBe(0);
    expect(snapshot()).toEqual(before);
    expect(out).toMatch(/--hot-days: \d+\n/);
    expect(out).toContain('--domain: not set\n');
    expect(out).toMatch(
      /near the machine that deploys, without a --location .*cannot be changed later\./,
    );
    expect(out).toMatch(
      /the database fleet,\s+the bucket fleet-archive and the queues fleet-deliveries;/,
    );
    expect(out).toMatch(/upload the Worker \(.* gzip: [\d.]+ KiB\)/);
    expect(out).toContain('Nothing was called or changed.');
  } finally {
    network.close();
  }
});

it('deploy --dry-run takes settings from a file, and says in a line what is wrong', async () => {
  mkdirSync(join(project, '.local/deploy'), { recursive: true });
  writeFileSync(join(project, '.local/deploy/settings.env'), 'DEPLOY_NAME=Acme!\n');
  const { code, err } = await deploy({}, '--dry-run');
  expect(code).toBe(1);
  expect(err).toMatch(/^error: option '--name .*DEPLOY_NAME.* up to 28.*\n$/);
});

it('without credentials it says how to sign in', async () => {
  const network = await startNetwork(nobody, [], nobody);
  try {
    const { code, err } = await deploy({
      ...network.env,
      CLOUDFLARE_API_BASE_URL: network.baseUrl,
    });
    expect([code, err]).toEqual([1, expect.stringContaining('npx wrangler login')]);
  } finally {
    network.close();
  }
});
