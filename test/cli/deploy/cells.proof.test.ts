// @module-tag proof
// More than 15 s: ten deploys, each with wrangler.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cloud, keepNothing, project } from '#test/support/node/deploy.ts';
import { readText } from '#test/support/node/index.ts';

keepNothing();

const domain = 'api.example.com';
const main = 'fleet-data-service';
const router = '--router=main=fleet-data-service,eu=fleet-eu';
it('deploys cells and a router in front of them, each again without harm', async () => {
  const { account, deploy, asked } = await cloud(domain);
  const checked = () =>
    asked
      .splice(0)
      .filter(({ path }) => path === '/operator/check')
      .map(({ cell, key }) => [cell, key]);
  const text = (worker: string, name: string) =>
    account.workers.get(worker)?.bindings.find((one) => one.name === name)?.text;
  const fileOf = (worker: string, file: string) =>
    join(project, '.local/deploy', account.id, worker, file);
  const keyOf = (worker: string) => readText(fileOf(worker, 'operator.key')).trim();
  const first = await deploy(`--domain ${domain}`);
  expect([first.code, text(main, 'CELL')]).toEqual([0, undefined]);
  expect(checked()).toEqual([[null, keyOf(main)]]);

  // A second cell has an operator key of its own, the ENCRYPTION_KEYS of the first, and no address.
  const ofEu = '--name fleet-eu --cell eu --jurisdiction eu';
  const second = await deploy(`${ofEu} --domain ${domain}`);
  expect([second.code, second.err]).toEqual([0, '']);
  expect(second.out).toContain('with eu=fleet-eu among its cells');
  expect(second.out).toContain(
    `export FLEET_OPERATOR_KEY_EU="$(cat ${relative('', fileOf('fleet-eu', 'operator.key'))})"`,
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
  const early = await deploy(`${router},uk=fleet-uk`);
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
  const wrong = await deploy(router, { DEPLOY_NAME: 'fleet-eu' });
  expect(wrong.err).toContain('Choose another --name for the router');

  // The first one serves its address until the router takes it over.
  expect((await deploy('--cell main')).code).toBe(0);
  expect(account.workers.get(main)?.domains).toEqual([domain]);
  for (const _ of ['first', 'again']) {
    const routed = await deploy(`${router} --domain ${domain}`);
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
  asked.length = 0;
  const later = await deploy('--name fleet-eu');
  expect([later.code, later.err]).toEqual([0, '']);
  expect(text('fleet-eu', 'CELL')).toBe('eu');
  expect((await deploy()).code).toBe(0);
  expect(account.workers.get('fleet-router')?.domains).toEqual([domain]);
  expect(checked()).toEqual([
    ['eu', keyOf('fleet-eu')],
    ['main', keyOf(main)],
  ]);

  // A cell that was behind a router and is not any more is a failure.
  account.workers.delete('fleet-router');
  const alone = await deploy('--name fleet-eu');
  expect(alone.code).toBe(1);
  expect(alone.out).toContain('! Not checked: no router at https://');
});

it('a router is rehearsed without an account', async () => {
  const { code, out } = await (await cloud()).deploy(`--dry-run ${router} --domain ${domain}`);
  expect(code).toBe(0);
  expect(out).toMatch(/eu: the Worker fleet-eu\n.*upload the router \(.* gzip: [\d.]+ KiB\)/);
  expect(existsSync(join(project, '.local'))).toBe(false);
});
