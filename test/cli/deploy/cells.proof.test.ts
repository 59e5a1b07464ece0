// More than 15 s: ten deploys, each with wrangler.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Hono } from 'hono';
import type { Cloudflare } from '#test/support/node/cloudflare.ts';
import { cloud, copyProject, deploy, project } from '#test/support/node/deploy.ts';

copyProject();

const domain = 'api.example.com';
const main = 'fleet-data-service';
const router = '--router=main=fleet-data-service,eu=fleet-eu';
let account: Cloudflare;
/** The cell and the key of each check. */
let checked: unknown[] = [];
/** Whatever serves the domain now: a router names its cells. */
const served = new Hono()
  .use(async (c, next) => {
    await next();
    const [serving] = [...account.workers.values()].filter(({ domains }) =>
      domains.includes(domain),
    );
    const services = serving?.bindings.filter(({ type }) => type === 'service') ?? [];
    c.header('X-Request-Id', 'r');
    const asked = { main, eu: 'fleet-eu' }[c.req.header('fleet-cell') ?? ''];
    c.header('Worker-Version', asked ? account.workers.get(asked)?.version : serving?.version);
    if (services.length > 0)
      c.header('Fleet-Cell', services.map(({ name }) => name.slice(5).toLowerCase()).join(', '));
  })
  .get('/health', (c) => c.json({ message: 'Healthy' }))
  .post('/operator/check', (c) => {
    checked.push([
      c.req.header('fleet-cell'),
      c.req.header('authorization')?.slice('Bearer '.length),
    ]);
    const data = [{ name: 'queue', result: 'ok', ms: 7, detail: 'seen' }];
    return c.json({ status: 200, message: 'OK', data });
  });

it('deploys cells and a router in front of them, each again without harm', async () => {
  const { network, env, ...found } = await cloud([domain], served);
  account = found.account;
  const text = (worker: string, name: string) =>
    account.workers.get(worker)?.bindings.find((one) => one.name === name)?.text;
  const kept = (worker: string, file: string) =>
    readFileSync(join(project, '.local/deploy', account.id, worker, file), 'utf8').trim();
  const first = await deploy(env, '--domain', domain);
  expect([first.code, text(main, 'CELL')]).toEqual([0, undefined]);
  expect(checked).toEqual([[undefined, kept(main, 'operator.key')]]);

  // A second cell has an operator key of its own, the ENCRYPTION_KEYS of the first, and no address.
  const ofEu = ['--name', 'fleet-eu', '--cell', 'eu', '--jurisdiction', 'eu'];
  const second = await deploy(env, ...ofEu, '--domain', domain);
  expect([second.code, second.err]).toEqual([0, '']);
  expect(second.out).toContain('with eu=fleet-eu among its cells');
  expect(second.out).toContain(
    `export FLEET_OPERATOR_KEY_EU="$(cat .local/deploy/${account.id}/fleet-eu/operator.key)"`,
  );
  expect([text('fleet-eu', 'CELL'), text('fleet-eu', 'ORIGIN')]).toEqual([
    'eu',
    `https://${domain}`,
  ]);
  const [mainSecrets, euSecrets] = [main, 'fleet-eu'].map(
    (name) => account.workers.get(name)?.secrets,
  );
  expect(euSecrets?.get('ENCRYPTION_KEYS')).toBe(mainSecrets?.get('ENCRYPTION_KEYS'));
  expect(euSecrets?.get('OPERATOR_KEY')).not.toBe(mainSecrets?.get('OPERATOR_KEY'));
  expect(account.workers.get('fleet-eu')?.domains).toEqual([]);

  // A router needs cells that know that they are some.
  const early = await deploy(env, '--router', 'main=fleet-data-service,eu=fleet-eu,uk=fleet-uk');
  expect([early.code, early.err.split('\n')]).toEqual([
    1,
    [
      `deploy: These are not deployed as cells of ${domain}. Deploy them first:`,
      `  npm run deploy -- --cell main --domain ${domain}`,
      `  npm run deploy -- --name fleet-uk --cell uk --domain ${domain}`,
      '',
    ],
  ]);
  expect(account.workers.has('fleet-router')).toBe(false);
  const wrong = await deploy({ ...env, DEPLOY_NAME: 'fleet-eu' }, router);
  expect(wrong.err).toContain('Choose another --name for the router');

  // The first one serves its address until the router takes it over.
  expect((await deploy(env, '--cell', 'main')).code).toBe(0);
  expect(account.workers.get(main)?.domains).toEqual([domain]);
  for (const _ of ['first', 'again']) {
    const routed = await deploy(env, router, '--domain', domain);
    expect([routed.code, routed.err]).toEqual([0, '']);
    expect(routed.out).toContain('It responds and is healthy');
    const { bindings, domains, secrets } = account.workers.get('fleet-router') ?? {};
    const services = bindings?.filter(({ type }) => type === 'service');
    expect(services).toMatchObject([
      { name: 'CELL_MAIN', service: main },
      { name: 'CELL_EU', service: 'fleet-eu' },
    ]);
    expect([domains, secrets?.size, account.databases.length]).toEqual([[domain], 0, 2]);
  }

  // A later deploy of a cell leaves the address to the router, and checks that cell alone.
  checked = [];
  const later = await deploy(env, '--name', 'fleet-eu');
  expect([later.code, later.err]).toEqual([0, '']);
  expect(text('fleet-eu', 'CELL')).toBe('eu');
  expect((await deploy(env)).code).toBe(0);
  expect(account.workers.get('fleet-router')?.domains).toEqual([domain]);
  expect(checked).toEqual([
    ['eu', kept('fleet-eu', 'operator.key')],
    ['main', kept(main, 'operator.key')],
  ]);

  // A cell that was behind a router and is not any more is a failure.
  account.workers.delete('fleet-router');
  const alone = await deploy(env, '--name', 'fleet-eu');
  expect(alone.code).toBe(1);
  expect(alone.out).toContain('! Not checked: no router at https://');
  network.close();
});

it('a router is rehearsed without an account', async () => {
  const { code, out } = await deploy({}, '--dry-run', router, '--domain', domain);
  expect(code).toBe(0);
  expect(out).toMatch(/eu: the Worker fleet-eu\n.*upload the router \(.* gzip: [\d.]+ KiB\)/);
  expect(existsSync(join(project, '.local'))).toBe(false);
});

it.each(['main=a,eu', 'main=a,main=b', 'eu=a', 'main=a,EU=b', 'main=a,eu=b=c'])(
  'the cells %s of a router are refused',
  async (cells) => {
    const { code, err } = await deploy({}, '--dry-run', '--router', cells);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('such as main=fleet-data-service,eu=fleet-eu'),
    ]);
  },
);
