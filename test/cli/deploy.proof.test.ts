// @module-tag proof
// More than 15 s: eight deploys, each with wrangler.
import { globSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Binding, Cloudflare } from '#test/support/node/cloudflare.ts';
import { cloud, keepNothing, project } from '#test/support/node/deploy.ts';
import { readText, root, runToEnd } from '#test/support/node/index.ts';

keepNothing();

const name = 'fleet-data-service';
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
  const { account, deploy, ill } = await cloud(host, 'api.example.com');
  const upload = `PUT workers/scripts/${name}`;

  // A database that cannot be migrated keeps new code away.
  account.brokenDatabase = 'fleet';
  const unmigrated = await deploy('--location weur');
  expect(unmigrated.code).toBe(1);
  expect(unmigrated.err).toMatch(/^deploy: Applying the migrations failed: .*run it again.*\n$/);
  expect(unmigrated.out).toMatch(
    /! The new database is created at the location weur\. This cannot be changed later\.\n[\s\S]*✓ Created the database fleet\n/,
  );
  expect(account.workers.size).toBe(0);

  // What was made stays, and the keys are not lost.
  const keys = globSync(join(project, '.local/**/*.key{,s}'));
  const values = keys.map((file) => readText(file));
  expect(keys.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);

  // Cloudflare does not know a new Worker everywhere at once.
  account.brokenDatabase = '';
  account.lateWorker = 1;
  account.calls.length = 0;
  const { code, out, err } = await deploy('--email-from portal@example.com', {
    ...{ DEPLOY_LOCATION: 'weur', DEPLOY_REPLICAS: 'true' },
  });
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/Applied .+/);
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
  expect(out).toContain('It responds and is healthy');
  expect(out).toMatch(/Checked https:.*\n[^!]*\nqueue +ok +7 ms +seen/);
  expect(keys.map((file) => readText(file))).toEqual(values);
  for (const secret of values) expect(out).not.toContain(secret.trim());
  expect(out).toMatch(/password manager\. .*\n[\s\S]*✓ Deployed/);
  // Replicas are turned on before the Worker reads them, and it runs where they are.
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
  const later = await deploy('--location oc');
  expect([later.code, later.err]).toEqual([0, '']);
  expect(account.calls).not.toContain('PUT d1/database/:id');
  for (const text of [
    '! The database fleet exists already: --location oc cannot move it\n',
    'No migrations to apply',
    '! Not checked: set FLEET_URL and FLEET_OPERATOR_KEY',
  ])
    expect(later.out).toContain(text);
  expect(bound(account, name)).toMatchObject(told);
  expect(storesOf(account)).toEqual(stores);

  // Another stands beside it and shares nothing, without what the account lacks by now.
  ill.add('acme');
  Object.assign(account, { unknownFlag: 'queue_consumer_no_wait_for_wait_until', r2: false });
  account.calls.length = 0;
  const production = structuredClone(account.workers.get(name));
  const second = await deploy(
    '--name acme --domain api.example.com --location oc --jurisdiction eu',
    { DEPLOY_REPLICAS: '' },
  );
  expect([second.code, second.err]).toEqual([1, '']);
  expect(second.out).toMatch(/^database +fault +7 ms +seen/m);
  for (const text of [
    /^! database: look at the database in the dashboard/im,
    /^! It responds, but is not healthy: 503 Database does not respond$/m,
    /^! This account has not turned on R2, so nothing is archived/m,
  ])
    expect(second.out).toMatch(text);
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
  expect(JSON.stringify(acme?.bindings)).not.toMatch(/"fleet-(deliveries|archive)"/);
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
  const { account, deploy } = await cloud();
  const dump = join(project, 'fleet.sql');
  writeFileSync(dump, "create table accounts (name text); insert into accounts values ('Acme');");
  const restored = await deploy(`--restore ${dump} --location weur`);
  expect([restored.code, restored.err]).toEqual([0, '']);
  expect(storesOf(account).slice(0, 3)).toContain('bucket fleet-archive in weur');
  expect(
    account.databases.map(({ region, sql }) => [
      region,
      sql.prepare('select * from accounts').all(),
    ]),
  ).toEqual([['weur', [{ name: 'Acme' }]]]);
  expect(account.workers.size).toBe(0);
});

it('deploy --dry-run says what it would do, calls nobody, and changes nothing', async () => {
  const { account, deploy, refused } = await cloud();
  const snapshot = () =>
    readdirSync(project, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !file.includes('/node_modules/')) // its caches are of the test runner
      .map((file) => `${file} ${statSync(file).mtimeMs}`);
  const before = snapshot();
  // What a workflow passes for a variable that is not set.
  const { code, out } = await deploy('--dry-run', { DEPLOY_NAME: '', CLOUDFLARE_API_TOKEN: '' });
  expect([code, account.calls, refused]).toEqual([0, [], []]);
  expect(snapshot()).toEqual(before);
  for (const said of [
    /--domain: not set\n[\s\S]*--hot-days: \d+\n/,
    /near the machine that deploys, without a --location .*cannot be changed later\./,
    /the database fleet,\s+the bucket fleet-archive and the queues fleet-deliveries;/,
    /upload the Worker \(.* gzip: [\d.]+ KiB\)/,
    /Nothing was called or changed\./,
  ])
    expect(out).toMatch(said);
});

it.each([
  '--dry-run --give-up api.example.com',
  '--dry-run --check',
  '--dry-run --restore fleet.sql',
  '--check --restore fleet.sql',
  '--give-up api.example.com --router main=fleet',
])('deploy %s does neither', async (options) => {
  const own = { env: { CLOUDFLARE_API_BASE_URL: 'http://localhost:2', CLOUDFLARE_API_TOKEN: 'x' } };
  const { code, err } = await runToEnd('src/cli/deploy.ts', options.split(' '), own);
  expect([code, err]).toEqual([1, expect.stringMatching(/^error: option .* cannot be used with/)]);
});

it('as a program it takes settings from a file, and the proxy of the environment', async () => {
  const { env, refused } = await cloud();
  mkdirSync(join(project, '.local/deploy'), { recursive: true });
  writeFileSync(join(project, '.local/deploy/settings.env'), 'CLOUDFLARE_API_TOKEN=token\n');
  const own = { env: { HTTPS_PROXY: env.HTTPS_PROXY }, cwd: project };
  const { code, err } = await runToEnd(join(project, 'src/cli/deploy.ts'), [], own);
  expect([code, refused]).toEqual([1, ['api.cloudflare.com:443']]);
  expect(err).toMatch(/^deploy: Signing in .* Cloudflare did not respond: .*\n$/);
});

it('without credentials it says how to sign in', async () => {
  const { deploy } = await cloud();
  const { code, err } = await deploy('', { CLOUDFLARE_API_TOKEN: '' });
  expect([code, err]).toEqual([1, expect.stringContaining('npx wrangler login')]);
});
