import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { cellsNamed } from '../router/cells.ts';
import {
  createMissing,
  deployedAs,
  lookUp,
  placeBeside,
  regionOf,
  replicate,
} from './deploy/account.ts';
import { addressesOf, attach, giveUp, originOf } from './deploy/addresses.ts';
import { checkService } from './deploy/check.ts';
import { type Expected, healthAt, waitForHealth } from './deploy/health.ts';
import { queryIn } from './deploy/import.ts';
import { folderOf, keepMissing, operatorKeyFile, remindToStore } from './deploy/keys.ts';
import { planOf } from './deploy/plan.ts';
import { nextSteps, rehearse, report, warn } from './deploy/print.ts';
import { restore, sizeWarning } from './deploy/restore.ts';
import {
  addressOf,
  type Cells,
  deployedRouter,
  routerName,
  routerOption,
} from './deploy/router.ts';
import { expectedSchema, migrate, mustHaveSchema } from './deploy/schema.ts';
import { inLines, placeWarning, type Settings, settingsIn, withKept } from './deploy/settings.ts';
import { upload, writeConfiguration } from './deploy/upload.ts';
import { ApiError, keyVariable } from './operate/client.ts';
import { serviceAt } from './operate/context.ts';
import { printable } from './operate/print.ts';
import { type Api, Stopped, signIn } from './project/cloudflare.ts';
import { localDirectory } from './project/paths.ts';
import { useProxy } from './project/proxy.ts';

type Flags = { [flag in 'dryRun' | 'check' | 'takeOver']?: true };
type Options = Flags & { [option in 'email' | 'giveUp' | 'restore']?: string } & { router?: Cells };

/** Runs the program. What stops it is printed, and sets the exit code. */
export async function runDeploy(args: string[]): Promise<void> {
  const program = new Command('npm run deploy --')
    .description('Deploys the service to your Cloudflare account. Safe to run again.')
    .addOption(
      new Option(
        '--dry-run',
        'show what a deploy would do; needs no credentials and changes nothing',
      ).conflicts(['check', 'giveUp', 'restore']),
    )
    .addOption(
      new Option(
        '--check',
        'deploy nothing: check the service at FLEET_URL, by default the local one',
      ).conflicts(['giveUp', 'restore', 'router']),
    )
    .option('--email <address>', 'with --check: send an email to this address')
    .option('--take-over', 'have the domain lead here even if it leads elsewhere')
    .addOption(
      new Option(
        '--give-up <host>',
        'deploy nothing: have a former host no longer lead to the Worker',
      ).conflicts(['restore', 'router']),
    )
    .addOption(
      new Option(
        '--restore <dump>',
        'deploy nothing: create what is missing, and restore a dump of the database',
      ).conflicts('router'),
    )
    .addOption(routerOption)
    .addHelpText(
      'after',
      '\nThe file .local/deploy/settings.env can hold settings, one NAME=value per line.',
    );
  const settings = settingsIn(program, args);
  const options = program.opts<Options>();
  try {
    if (options.check)
      await checkService(serviceAt(), {
        entries: expectedSchema(),
        writes: true,
        email: options.email,
      });
    else if (options.giveUp) await giveUpHost(options.giveUp, settings);
    else if (options.dryRun) await rehearse(settings, options.router);
    else if (options.router) await deployRouter(options.router, settings, options);
    else await deploy(settings, options);
  } catch (error) {
    if (!(error instanceof Stopped || error instanceof ApiError)) throw error;
    console.error(`deploy: ${error.message.split('\n').map(printable).join('\n')}`);
    process.exitCode = 1;
  }
}

/** The old code keeps serving while migrations apply, and until the upload is complete. */
async function deploy(settings: Settings, { restore: dump, takeOver }: Options): Promise<void> {
  if (dump && !existsSync(dump)) throw new Stopped(`There is no ${dump}.`);
  const { account, wrangler, api } = await signIn(report);
  const found = await lookUp(api, planOf(settings));
  const effective = withKept(settings, found.vars);
  const plan = planOf(effective);
  const { worker, cell, domain, database } = plan;
  report(`Settings:${inLines(effective, plan.vars)}`);
  const folder = folderOf(account, worker);
  const origin = await originOf(api, plan);
  const place = placeBeside(found.database, plan);
  const keys = dump ? [] : keepMissing(folder, plan, found);
  if (!found.database) warn(placeWarning(place));
  else if (place.location)
    warn(`the database ${database} exists already: --location ${place.location} cannot move it`);
  if (domain && found.version && !dump) {
    await lead(api, domain, worker, takeOver);
    // The old version serves at both addresses until then, and its links lead to the old one.
    if (found.vars.ORIGIN !== origin) await waitForHealth(origin);
  }
  const ids = await createMissing(api, plan, found, place, report);
  if (!ids.bucket)
    warn(`this account has not turned on R2, so nothing is archived: D1 keeps everything, up to its 10 GB.
  Turn on R2 in the dashboard and deploy again to have old records moved to a bucket.`);
  const keepsWorkersDev = found.addresses.some(({ host }) => host.endsWith('.workers.dev'));
  const region = await regionOf(api, ids.database);
  const configuration = plan.configuration(ids, origin, region, keepsWorkersDev);
  const config = writeConfiguration(folder, configuration);
  const query = queryIn(api, ids.database);
  if (dump) {
    const warning = sizeWarning(statSync(dump).size);
    if (warning) warn(warning);
    await restore(wrangler, query, { database, config, dump }, report);
    return report(`Restored ${dump}. Restore the bucket ${plan.bucket}, then deploy`);
  }
  const applied = await migrate(wrangler, query, config, database);
  report(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'No migrations to apply');
  await mustHaveSchema(query, database);
  if (plan.replicas) {
    await replicate(api, ids.database);
    report('Lists are read from replicas of the database');
  }
  const remind = () => remindToStore(folder, console.log);
  const { consequences, version } = await upload(
    api,
    wrangler,
    folder,
    configuration,
    keys,
    remind,
  );
  const secrets = keys.map(({ secret }) => secret).join(' and ');
  report(`Deployed the Worker ${worker}${secrets && `, with new ${secrets}`}`);
  for (const one of consequences) warn(one);
  if (domain) await lead(api, domain, worker, takeOver);
  // That of a cell is of all cells together.
  if (!cell) await mustBeHealthy(origin, { version });
  await listFormer(api, worker, origin, settings);
  console.log(nextSteps(plan, origin, folder));
  if (cell) {
    const routed = await healthAt(origin);
    if (!routed || !cellsNamed(routed).includes(cell)) {
      if (found.vars.CELL) process.exitCode = 1; // it should be there by now
      return warn(
        `not checked: no router at ${origin} knows this cell. Deploy it with ${cell}=${worker} among its cells`,
      );
    }
    await mustBeHealthy(origin, { version, cell });
  }
  const file = operatorKeyFile(folder);
  const operatorKey = existsSync(file)
    ? readFileSync(file, 'utf8').trim()
    : process.env.FLEET_OPERATOR_KEY;
  if (operatorKey)
    await checkService(
      { baseUrl: origin, operatorKey, cell },
      { entries: expectedSchema(), version },
    );
  else warn('not checked: set FLEET_URL and FLEET_OPERATOR_KEY, and run npm run deploy -- --check');
}

/** Deploys the router in front of deployed cells, whose public address it takes over. */
async function deployRouter(
  cells: Cells,
  { name = routerName, domain }: Settings,
  { takeOver }: Options,
): Promise<void> {
  const { account, wrangler, api } = await signIn(report);
  const origin = await addressOf(api, cells, name, domain);
  const { host } = new URL(origin);
  const isAtWorkersDev = host.endsWith('.workers.dev');
  const configuration = deployedRouter(cells, name, isAtWorkersDev);
  const { consequences, version } = await upload(
    api,
    wrangler,
    folderOf(account, name),
    configuration,
    [],
  );
  report(`Deployed the router ${name} in front of ${[...cells.keys()].join(', ')}`);
  for (const one of consequences) warn(one);
  if (!isAtWorkersDev) await lead(api, host, name, takeOver, [...cells.values()]);
  await mustBeHealthy(origin, { version, cells: cells.keys() });
  console.log(`
  Next, list the cells, with an operator key for each, such as ${keyVariable('eu')}:
    npm run fleet -- cell list --url ${origin}
`);
}

/** Has a host lead to a Worker. A resolver that is asked too early remembers for long that it leads nowhere. */
async function lead(
  api: Api,
  host: string,
  worker: string,
  takeOver = false,
  from: string[] = [],
): Promise<void> {
  if (!(await attach(api, worker, host, takeOver ? 'anything' : from))) return;
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
async function listFormer(
  api: Api,
  worker: string,
  origin: string,
  { name }: Settings,
): Promise<void> {
  const command = `npm run deploy --${name ? ` --name ${name}` : ''} --give-up`;
  for (const { host } of await addressesOf(api, worker))
    if (origin !== `https://${host}`)
      warn(`also served at ${host}. Once nobody uses that any more: ${command} ${host}`);
}

async function giveUpHost(host: string, settings: Settings): Promise<void> {
  const { api } = await signIn(report);
  const { worker } = planOf(settings);
  const { vars } = await deployedAs(api, worker);
  await giveUp(api, worker, host, vars.ORIGIN);
  report(`${host} no longer leads to the Worker ${worker}`);
}

if (import.meta.main) {
  useProxy();
  const settingsFile = join(localDirectory, 'deploy/settings.env');
  if (existsSync(settingsFile)) process.loadEnvFile(settingsFile);
  await runDeploy(process.argv.slice(2));
}
