import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import * as v from 'valibot';
import { planOf } from '#src/cli/deploy/plan.ts';
import { settings, settingsIn, withKept } from '#src/cli/deploy/settings.ts';
import { root } from '#src/cli/project/paths.ts';
import { Vars } from '#src/core/platform/vars.ts';

afterEach(() => vi.unstubAllEnvs());

const parsed = (...args: string[]) =>
  settingsIn(new Command().exitOverride().configureOutput({ writeErr: () => {} }), args);

it.each([
  ['--name', 'Fleet!', 'must be up to 28 lowercase letters'],
  ['--domain', 'https://api.example.com/x', 'must be a host name'],
  ['--email-from', 'nobody', 'must be an email address, or none'],
  ['--hot-days', '6', 'must be 0, or 7 days or more'],
  ['--retention-days', '3', 'must be 7 days or more'],
  ['--location', 'mars', 'choices are wnam, enam, weur, eeur, apac, oc'],
  ['--replicas', 'maybe', 'must be true or false'],
  ['--jurisdiction', 'uk', 'choices are eu, us, fedramp'],
  ['--cell', 'EU', 'must be up to 16 lowercase letters and digits'],
])('%s %s is refused', (option, value, words) => {
  expect(() => parsed(option, value)).toThrow(words);
});

const odd = [
  'true ',
  ...'no-reply@a--b.com a@b -1 6.5 1e400 NaN x http://a.example ://'.split(' '),
];

it.each(
  settings.filter(({ variable }) => variable).map(({ long = '', variable }) => [long, variable]),
)('%s takes nothing that the service would refuse, whatever it is', (option, variable) => {
  const accepted = odd.filter((value) => {
    try {
      return parsed(option, value);
    } catch {
      return false;
    }
  });
  const schema = Vars.entries[variable as keyof typeof Vars.entries];
  expect(accepted.filter((value) => !v.is(schema, value))).toEqual([]);
});

it('come from options and the environment, where an empty one is an absent one', () => {
  vi.stubEnv('DEPLOY_LOCATION', 'weur');
  vi.stubEnv('DEPLOY_NAME', ''); // as GitHub passes variables that are not set
  expect(parsed('--replicas')).toEqual({ location: 'weur', replicas: 'true' });
  expect(parsed('--domain', '', '--hot-days', '9', '--email-from=', '--location', '')).toEqual({
    ...{ location: 'weur', hotDays: '9' },
  });
});

it("a misspelt variable is refused, and one that is somebody else's is not", () => {
  vi.stubEnv('DEPLOY_KEY', 'x');
  expect(parsed()).toEqual({});
  vi.stubEnv('DEPLOY_JURISDICTON', 'eu');
  expect(() => parsed()).toThrow(
    'DEPLOY_JURISDICTON is not a setting, did you mean DEPLOY_JURISDICTION?',
  );
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
const [, test = '', staging = '', production = ''] = workflow.split(
  /^ {2}(?:test|staging|production):$/m,
);

/** The settings of a job: those of its command, and the variables that are set. */
function settingsOf(job: string, variables: { [name: string]: string } = {}) {
  const [, options = ''] = /run: npm run deploy(?: -- (.*))?$/m.exec(job) ?? [];
  const passed = [...job.matchAll(/^ +(DEPLOY_\w+): \$\{\{ vars\.(\w+) \}\}$/gm)];
  for (const [, name = '', variable = ''] of passed) vi.stubEnv(name, variables[variable] ?? '');
  return parsed(...options.split(' ').filter(Boolean));
}

it('the workflow tests, and deploys to staging and then to production', () => {
  expect(test).toContain('run: npm test');
  expect(staging).toMatch(/needs: test\n[\s\S]*environment: staging\n/);
  expect(production).toMatch(/needs: staging\n[\s\S]*environment: production\n/);
  expect(settingsOf(staging)).toEqual({ name: 'fleet-staging' });
  const domain = 'staging.example.com';
  const ofProduction = { DEPLOY_NAME: 'fleet', DEPLOY_DOMAIN: 'api.example.com' };
  expect(settingsOf(staging, { ...ofProduction, STAGING_DOMAIN: domain })).toEqual({
    ...{ name: 'fleet-staging', domain },
  });
  expect(settingsOf(production)).toEqual({});
  expect(settingsOf(production, ofProduction)).toEqual({
    name: 'fleet',
    domain: 'api.example.com',
  });
});

it('the docs know every setting, and the workflow passes all to production', () => {
  const docs = readFileSync(join(root, 'src/docs/guides/operating/deploying.md'), 'utf8');
  const rows = [...docs.matchAll(/^\| .* \| `(--[a-z-]+)[^|]*\| `(DEPLOY_\w+)/gm)];
  const documented = rows.map(([, long, envVar]) => [long, envVar]).toSorted();
  expect(documented).toEqual(settings.map(({ long, envVar }) => [long, envVar]).toSorted());
  for (const { envVar } of settings)
    expect(production).toContain(`${envVar}: \${{ vars.${envVar} }}\n`);
});
