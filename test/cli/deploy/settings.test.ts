import { Command } from 'commander';
import * as v from 'valibot';
import { planOf } from '#src/cli/deploy/plan.ts';
import { routerOption } from '#src/cli/deploy/router.ts';
import { type Settings, settings, settingsIn, withKept } from '#src/cli/deploy/settings.ts';
import { Vars } from '#src/core/platform/vars.ts';
import { readText, root } from '#test/support/node/index.ts';

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

it.each(['main=a,eu', 'main=a,main=b', 'eu=a', 'main=a,EU=b', 'main=a,eu=b=c'])(
  'the cells %s of a router are refused',
  (cells) => {
    const parsing = () => routerOption.parseArg?.(cells, undefined);
    expect(parsing).toThrow('such as main=fleet-data-service,eu=fleet-eu');
  },
);

const odd = [
  'true ',
  ...'no-reply@a--b.com a@b -1 6.5 1e400 NaN x http://a.example ://'.split(' '),
];

it.each(
  settings.filter(({ variable }) => variable).map(({ long = '', variable }) => [long, variable]),
)('%s takes nothing that the service would refuse, whatever it is', (option, variable) => {
  const schema = Vars.entries[variable as keyof typeof Vars.entries];
  for (const value of odd.filter((one) => !v.is(schema, one)))
    expect(() => parsed(option, value), value).toThrow();
});

it('come from options and the environment, where an empty one is an absent one', () => {
  vi.stubEnv('DEPLOY_LOCATION', 'weur');
  vi.stubEnv('DEPLOY_NAME', ''); // as GitHub passes variables that are not set
  expect(
    parsed('--replicas', '--domain', '', '--hot-days', '9', '--email-from=', '--location', ''),
  ).toEqual({ location: 'weur', hotDays: '9', replicas: 'true' });
});

it("a wrong or misspelt variable is refused, and one that is somebody else's is not", () => {
  vi.stubEnv('DEPLOY_KEY', 'x');
  expect(parsed()).toEqual({});
  vi.stubEnv('DEPLOY_NAME', 'Acme!');
  expect(() => parsed()).toThrow(/^error: option '--name .*DEPLOY_NAME.* up to 28.*$/);
  vi.stubEnv('DEPLOY_NAME', '');
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

const ofRouter = { CELL: 'eu', ORIGIN: 'https://fleet-router.acme.workers.dev' };
const others = { retentionDays: '60', hotDays: '0', mapStyleUrl: deployed.MAP_STYLE_URL };
const kept = { ...others, domain: 'api.example.com', emailFrom: 'portal@example.com' };
it.each<[what: string, given: Settings, vars: { [name: string]: string }, effective: Settings]>([
  ['that are left out stay as deployed', {}, deployed, { ...kept, replicas: 'true' }],
  ['have no domain below workers.dev', {}, { ORIGIN: 'https://fleet.acme.workers.dev' }, {}],
  [
    'of a cell keep its router',
    {},
    ofRouter,
    { cell: 'eu', domain: new URL(ofRouter.ORIGIN).host },
  ],
  [
    'leave the cells',
    { cell: 'none' },
    { CELL: 'eu', ORIGIN: deployed.ORIGIN },
    { domain: kept.domain },
  ],
  [
    'that are given replace the deployed ones, and none removes them',
    { emailFrom: 'none', mapStyleUrl: 'none', hotDays: '90', replicas: 'false' },
    deployed,
    { domain: kept.domain, retentionDays: '60', hotDays: '90', replicas: 'false' },
  ],
])('settings %s', (_, given, vars, effective) => {
  expect(withKept(given, vars)).toEqual(effective);
});

it.each([
  ['a service', deployed, {}],
  ['a cell, which has no address of its own,', ofRouter, { workers_dev: false }],
])('the settings of %s are those of its Worker again', (_, vars, more) => {
  const plan = planOf(withKept({}, vars));
  const configuration = plan.configuration(undefined, plan.origin);
  expect(configuration).toMatchObject({ vars, ...more });
  expect(configuration).not.toHaveProperty('routes');
});

const workflow = readText(root, '.github/workflows/deploy.yml');
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
  const domain = 'staging.example.com';
  const ofProduction = { DEPLOY_NAME: 'fleet', DEPLOY_DOMAIN: 'api.example.com' };
  expect(settingsOf(staging, { ...ofProduction, STAGING_DOMAIN: domain })).toEqual({
    name: 'fleet-staging',
    domain,
  });
  expect(settingsOf(production, ofProduction)).toEqual({
    name: 'fleet',
    domain: 'api.example.com',
  });
});

it('the docs know every setting, and the workflow passes all to production', () => {
  const docs = readText(root, 'src/docs/guides/operating/deploying.md');
  const rows = [...docs.matchAll(/^\| .* \| `(--[a-z-]+)[^|]*\| `(DEPLOY_\w+)/gm)];
  const documented = rows.map(([, long, envVar]) => [long, envVar]).toSorted();
  expect(documented).toEqual(settings.map(({ long, envVar }) => [long, envVar]).toSorted());
  for (const { envVar } of settings)
    expect(production).toContain(`${envVar}: \${{ vars.${envVar} }}\n`);
});
