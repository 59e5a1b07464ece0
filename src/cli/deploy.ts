import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import * as v from 'valibot';
import { cellsNamed } from '../platform/cells.ts';
import { chooseAccount, createMissing, deployedAs, lookUp, placeBeside, regionOf } from './deploy/account.ts';
import { type Attaching, addressesOf, attach, giveUp, originOf } from './deploy/addresses.ts';
import { checkService } from './deploy/check.ts';
import { type Api, apiAt, credentials, Stopped, type Wrangler, wranglerFor } from './deploy/cloudflare.ts';
import { type Expected, healthAt, waitForHealth } from './deploy/health.ts';
import { type Key, keepMissing, operatorKeyFile } from './deploy/keys.ts';
import { type Plan, planOf } from './deploy/plan.ts';
import {
  addressOf,
  type Cells,
  cellsIn,
  deployedRouter,
  exampleOfCells,
  routerName,
} from './deploy/router.ts';
import { migrate, mustHaveSchema, queryIn } from './deploy/schema.ts';
import { inLines, placeWarning, type Settings, settingsIn, withKept } from './deploy/settings.ts';
import { tryUpload, upload, writeConfiguration } from './deploy/upload.ts';
import { ApiError, keyVariable } from './operate/client.ts';
import { serviceAt } from './operate/context.ts';
import { printable } from './operate/print.ts';
import { localDirectory } from './project/paths.ts';

const noArchive = `this account has not turned on R2, so nothing is archived: D1 keeps everything, up to its 10 GB.
  Turn on R2 in the dashboard and deploy again to have old records moved to a bucket.`;

const settingsFile = join(localDirectory, 'deploy/settings.env');
if (existsSync(settingsFile)) process.loadEnvFile(settingsFile);

const program = new Command('npm run deploy --')
  .description('Deploys the service to your Cloudflare account. Safe to run again.')
  .option('--dry-run', 'show what a deploy would do; needs no credentials and changes nothing')
  .option('--check', 'deploy nothing: check the service at FLEET_URL, by default the local one')
  .option('--take-over', 'have the domain lead here even if it leads elsewhere')
  .option('--give-up <host>', 'deploy nothing: have a former host no longer lead to the Worker')
  .option('--router <cells>', `deploy the router in front of these cells, such as ${exampleOfCells}`, cellsIn)
  .addHelpText('after', '\nThe file .local/deploy/settings.env can hold settings, one NAME=value per line.');
const settings = settingsIn(program, process.argv.slice(2));
type Options = { [flag in 'dryRun' | 'check' | 'takeOver']?: true } & { giveUp?: string; router?: Cells };
const { check, takeOver, giveUp: former, router, dryRun: isRehearsal } = program.opts<Options>();

try {
  if (check) await checkService(serviceAt());
  else if (former) await giveUpHost(former, planOf(settings).worker);
  else if (router) await (isRehearsal ? rehearseRouter(router, settings) : deployRouter(router, settings));
  else await (isRehearsal ? rehearse(withKept(settings, {})) : deploy(settings));
} catch (error) {
  if (!(error instanceof Stopped || error instanceof ApiError)) throw error;
  console.error(`deploy: ${error.message.split('\n').map(printable).join('\n')}`);
  process.exitCode = 1;
}

/** How to call the account to deploy to, and the folder of one of its Workers. */
async function signIn(): Promise<{ wrangler: Wrangler; api: Api; folderOf: (worker: string) => string }> {
  const signedIn = await credentials(wranglerFor());
  const account = await chooseAccount(apiAt('', signedIn));
  report(`Signed in to the account ${account}`);
  return {
    wrangler: wranglerFor(account),
    api: apiAt(`/accounts/${account}`, signedIn),
    folderOf: (worker) => join(localDirectory, 'deploy', account, worker),
  };
}

/** The old code keeps serving while migrations apply, and until the upload is complete. */
async function deploy(settings: Settings): Promise<void> {
  const { wrangler, api, folderOf } = await signIn();
  const found = await lookUp(api, planOf(settings));
  const effective = withKept(settings, found.vars);
  const plan = planOf(effective);
  report(`Settings:${inLines(effective, plan.vars)}`);
  const folder = folderOf(plan.worker);
  const origin = await originOf(api, plan);
  const place = placeBeside(found.database, plan);
  const keys = keepMissing(folder, plan, found);
  if (!found.database) warn(placeWarning(place));
  else if (place.location)
    warn(`the database ${plan.database} exists already: --location ${place.location} cannot move it`);
  const { domain } = plan;
  if (domain) await lead(api, domain, plan.worker, { isEarly: !found.version });
  // The old version serves at both addresses until then, and its links lead to the old one.
  if (domain && found.version && found.vars.ORIGIN !== origin) await waitForHealth(origin);
  const ids = await createMissing(api, plan, found, place, report);
  if (!ids.bucket) warn(noArchive);
  const keepsWorkersDev = found.addresses.some(({ host }) => host.endsWith('.workers.dev'));
  const region = await regionOf(api, ids.database);
  const configuration = plan.configuration({ ids, origin, keepsWorkersDev, region });
  const config = writeConfiguration(folder, configuration);
  const query = queryIn(api, ids.database);
  const applied = await migrate(wrangler, query, config, plan.database);
  report(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'No migrations to apply');
  await mustHaveSchema(query, plan.database);
  if (plan.replicas) {
    const body = { read_replication: { mode: 'auto' } };
    const path = `/d1/database/${ids.database}`;
    await api('Turning on read replication', v.unknown(), path, { method: 'PUT', body });
    report('Lists are read from replicas of the database');
  }
  const { consequences, version } = await upload(api, wrangler, folder, configuration, keys);
  const secrets = keys.map(({ secret }) => secret).join(' and ');
  report(`Deployed the Worker ${plan.worker}${secrets && `, with new ${secrets}`}`);
  for (const one of consequences) warn(one);
  if (domain) await lead(api, domain, plan.worker);
  // That of a cell is of all cells together.
  if (!plan.cell) await mustBeHealthy(origin, { version });
  await listFormer(api, plan.worker, origin, settings.name);
  console.log(nextSteps(plan, origin, folder, keys));
  const routed = plan.cell && (await healthAt(origin));
  if (plan.cell && !(routed && cellsNamed(routed).includes(plan.cell))) {
    if (found.vars.CELL) process.exitCode = 1; // it should be there by now
    return warn(
      `not checked: no router at ${origin} knows this cell. Deploy it with ${plan.cell}=${plan.worker} among its cells`,
    );
  }
  if (plan.cell) await mustBeHealthy(origin, { version, cell: plan.cell });
  const file = operatorKeyFile(folder);
  const operatorKey = existsSync(file) ? readFileSync(file, 'utf8').trim() : process.env.FLEET_OPERATOR_KEY;
  if (operatorKey) await checkService({ baseUrl: origin, operatorKey, cell: plan.cell });
  else warn('not checked: set FLEET_URL and FLEET_OPERATOR_KEY, and run npm run deploy -- --check');
}

/** Deploys the router in front of deployed cells, whose public address it takes over. */
async function deployRouter(cells: Cells, { name = routerName, domain }: Settings): Promise<void> {
  const { wrangler, api, folderOf } = await signIn();
  const origin = await addressOf(api, cells, name, domain);
  const { host } = new URL(origin);
  const isAtWorkersDev = host.endsWith('.workers.dev');
  const configuration = deployedRouter(cells, name, isAtWorkersDev);
  const { consequences, version } = await upload(api, wrangler, folderOf(name), configuration, []);
  report(`Deployed the router ${name} in front of ${[...cells.keys()].join(', ')}`);
  for (const one of consequences) warn(one);
  if (!isAtWorkersDev) await lead(api, host, name, { from: cells.values() });
  await mustBeHealthy(origin, { version, cells: cells.keys() });
  console.log(`
  Next, list the cells, with an operator key for each, such as ${keyVariable('eu')}:
    npm run fleet -- cell list --url ${origin}
`);
}

/** Has a host lead to a Worker. A resolver that is asked too early remembers for long that it leads nowhere. */
async function lead(api: Api, host: string, worker: string, attaching: Attaching = {}): Promise<void> {
  if (!(await attach(api, worker, host, { takeOver, ...attaching }))) return;
  report(`${host} leads to the Worker ${worker}`);
  await wait(10_000);
}

/** Waits until the service responds. If it is not healthy, the command fails. */
async function mustBeHealthy(origin: string, expected: Expected): Promise<void> {
  const unwell = await waitForHealth(origin, expected);
  if (!unwell) return report('It responds and is healthy');
  warn(`it responds, but is not healthy: ${unwell}`);
  process.exitCode = 1;
}

/** Lists the addresses that a deploy leaves behind. */
async function listFormer(api: Api, worker: string, origin: string, name?: string): Promise<void> {
  const command = `npm run deploy --${name ? ` --name ${name}` : ''} --give-up`;
  for (const { host } of await addressesOf(api, worker))
    if (origin !== `https://${host}`)
      warn(`also served at ${host}. Once nobody uses that any more: ${command} ${host}`);
}

async function giveUpHost(host: string, worker: string): Promise<void> {
  const { api } = await signIn();
  const { vars } = await deployedAs(api, worker);
  await giveUp(api, worker, host, vars.ORIGIN);
  report(`${host} no longer leads to the Worker ${worker}`);
}

/** Goes as far as possible without an account. */
async function rehearseRouter(cells: Cells, { name = routerName, domain }: Settings): Promise<void> {
  const bound = [...cells].map(([cell, worker]) => `\n     ${cell}: the Worker ${worker}`);
  await dryRun(
    `the router ${name}`,
    deployedRouter(cells, name, !domain),
    (size) => `
  1. make sure that these are deployed as cells of ${domain ?? 'one address'}:${bound.join('')}
  2. upload the router (${size}), bound to them, which takes over that address
  3. wait until it responds, and all cells are healthy`,
  );
}

/** Goes as far as possible without an account. */
async function rehearse(settings: Settings): Promise<void> {
  const plan = planOf(settings);
  await dryRun(
    plan.worker,
    plan.configuration(),
    (size) => `
  1. find or create the KV namespace ${plan.namespace}, the database ${plan.database},
     the bucket ${plan.bucket} and the queues ${plan.queues.join(', ')};
     ${placeWarning(plan.place)}
  2. create the secrets that the Worker lacks: ${plan.secrets.join(', ')}
  3. apply the migrations that the database lacks, while the old code keeps serving
  4. upload the Worker (${size})
  5. wait until it responds, and check its dependencies

  settings of a first deploy; later ones keep those that you leave out:${inLines(settings, plan.vars)}`,
  );
}

/** Bundles a Worker in a temporary folder, and prints the steps of its deploy. @throws Stopped */
async function dryRun(what: string, configuration: object, steps: (size: string) => string) {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-dry-run-'));
  try {
    const size = await tryUpload(wranglerFor(), writeConfiguration(folder, configuration));
    console.log(`A deploy of ${what} would${steps(size)}\n\nNothing was called or changed.`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function report(line: string): void {
  console.log(`✓ ${line}`);
}

function warn(text: string): void {
  console.log(`! ${text[0]?.toUpperCase()}${text.slice(1)}`);
}

function nextSteps({ cell }: Plan, url: string, folder: string, keys: Key[]): string {
  const shown = (path: string) => relative(process.cwd(), path);
  const file = operatorKeyFile(folder);
  const operatorKey = existsSync(file)
    ? `"$(cat ${shown(file)})"`
    : '…   # the OPERATOR_KEY that the first deploy created';
  const kept = keys.map(({ secret, file }) => `\n    ${shown(file)}  ${secret}`).join('');
  const keep = "\n  Store these in your team's password manager. Cloudflare never shows them again:";
  return `
  Fleet Data Service    ${url}
${kept && `${keep}${kept}\n`}
  Next, create the first account:
    export FLEET_URL=${url}
    export ${keyVariable(cell)}=${operatorKey}
    npm run fleet -- account create "Acme Insurance"${cell ? ` --cell ${cell}` : ''}
    npm run fleet -- --help
`;
}
