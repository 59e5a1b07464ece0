import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { expect, it, vi } from 'vitest';
import { planOf } from '../../../src/cli/deploy/plan.ts';
import { settingOptions, settingsIn, withKept } from '../../../src/cli/deploy/settings.ts';
import { root } from '../../../src/cli/project/paths.ts';

const parsed = (...args: string[]) => {
  const program = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  vi.spyOn(process, 'argv', 'get').mockReturnValue(['node', 'deploy.ts', ...args]);
  return settingsIn(program);
};

it.each([
  ['--name', 'Fleet!', 'up to 28 lowercase letters'],
  ['--domain', 'https://api.example.com/x', 'a host name'],
  ['--email-from', 'nobody', 'an email address'],
  ['--hot-days', '6', '0, or a whole number of days from 7'],
  ['--retention-days', '3', 'a whole number of days from 7'],
  ['--location', 'mars', 'one of wnam, enam, weur, eeur, apac, oc'],
  ['--replicas', 'maybe', 'true or false'],
  ['--jurisdiction', 'uk', 'one of eu, us, fedramp'],
  ['--cell', 'EU', 'up to 16 lowercase letters and digits'],
])('%s %s is refused', (option, value, must) => {
  expect(() => parsed(option, value)).toThrow(must);
});

it('come from options and the environment, where an empty variable is an absent one', () => {
  vi.stubEnv('DEPLOY_LOCATION', 'weur');
  vi.stubEnv('DEPLOY_NAME', ''); // as GitHub passes variables that are not set
  expect(parsed('--replicas')).toEqual({ location: 'weur', replicas: 'true' });
  vi.unstubAllEnvs();
});

it("a misspelt variable is refused, and one that is somebody else's is not", () => {
  vi.stubEnv('DEPLOY_KEY', 'x');
  expect(parsed()).toEqual({});
  vi.stubEnv('DEPLOY_JURISDICTON', 'eu');
  expect(() => parsed()).toThrow('DEPLOY_JURISDICTON is not a setting, did you mean DEPLOY_JURISDICTION?');
  vi.unstubAllEnvs();
});

const deployed = {
  ORIGIN: 'https://api.example.com',
  EMAIL_FROM: 'portal@example.com',
  DELIVERY_RETENTION_DAYS: '60',
  HOT_DAYS: '0',
  MAP_STYLE_URL: 'https://tiles.example.com/style.json',
  READ_REPLICAS: 'true',
};

it('settings that are left out stay as deployed', () => {
  expect(withKept({}, deployed)).toEqual({
    domain: 'api.example.com',
    emailFrom: 'portal@example.com',
    retentionDays: '60',
    hotDays: '0',
    mapStyleUrl: 'https://tiles.example.com/style.json',
    replicas: 'true',
  });
  const plan = planOf(withKept({}, deployed));
  expect(plan.configuration(undefined, plan.origin)).toMatchObject({ vars: deployed });
  expect(withKept({}, { ORIGIN: 'https://fleet-data-service.acme.workers.dev' })).toEqual({});
});

it('a cell keeps the address of its router, and has none of its own', () => {
  const routed = { CELL: 'eu', ORIGIN: 'https://fleet-router.acme.workers.dev' };
  const kept = withKept({}, routed);
  expect(kept).toEqual({ cell: 'eu', domain: 'fleet-router.acme.workers.dev' });
  const plan = planOf(kept);
  const configuration = plan.configuration(undefined, plan.origin);
  expect(configuration).toMatchObject({ vars: routed, workers_dev: false });
  expect(configuration).not.toHaveProperty('routes');
  expect(withKept({ cell: 'none' }, { ...routed, ORIGIN: deployed.ORIGIN })).toEqual({
    domain: 'api.example.com',
  });
});

it('a given setting replaces the deployed one, and none removes it', () => {
  const told = { emailFrom: 'none', mapStyleUrl: 'none', hotDays: '90', replicas: 'false' };
  expect(withKept(told, deployed)).toEqual({
    domain: 'api.example.com',
    retentionDays: '60',
    hotDays: '90',
    replicas: 'false',
  });
});

const workflow = readFileSync(join(root, '.github/workflows/deploy.yml'), 'utf8');
const [, test = '', staging = '', production = ''] = workflow.split(/^ {2}(?:test|staging|production):$/m);
const jobs = { test, staging, production };

it('the workflow tests, deploys to staging with nothing of production, and then to production', () => {
  expect(jobs.test).toContain('run: npm test');
  expect(jobs.staging).toMatch(/needs: test\n[\s\S]*environment: staging\n/);
  expect(jobs.staging).toContain('run: npm run deploy -- --name fleet-staging --domain "$STAGING_DOMAIN"');
  expect(jobs.staging).not.toContain('DEPLOY_');
  expect(jobs.production).toMatch(/needs: staging\n[\s\S]*environment: production\n/);
});

it('the docs know every setting, and the workflow passes those that the environment can hold', () => {
  const docs = readFileSync(join(root, 'src/docs/guides/operating/deploying.md'), 'utf8');
  const rows = [...docs.matchAll(/^\| .* \| `(--[a-z-]+)[^|]*\| (?:`(DEPLOY_\w+)|none)/gm)];
  const documented = rows.map(([, long, envVar]) => [long, envVar]).toSorted();
  expect(documented).toEqual(settingOptions.map(({ long, envVar }) => [long, envVar]).toSorted());

  const passed = [...jobs.production.matchAll(/^ +(DEPLOY_\w+): \$\{\{ vars\.(\w+) \}\}$/gm)];
  expect(passed.every(([, name, variable]) => name === variable)).toBe(true);
  const known = settingOptions.flatMap(({ envVar }) => envVar ?? []);
  expect(passed.map(([, name]) => name).toSorted()).toEqual(known.toSorted());
});
