import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { Command } from 'commander';
import * as v from 'valibot';
import { chooseAccount, createMissing, lookUp, originOf, placeBeside } from './deploy/account.ts';
import { apiFor, credentials, granted, queryIn } from './deploy/api.ts';
import { checkService } from './deploy/check.ts';
import { type Key, keepMissing, operatorKeyFile } from './deploy/keys.ts';
import { planOf } from './deploy/plan.ts';
import { migrate, mustHaveSchema } from './deploy/schema.ts';
import { inLines, placeWarning, type Settings, settingsIn, withKept } from './deploy/settings.ts';
import { tryUpload, upload, waitForHealth, writeConfiguration } from './deploy/upload.ts';
import { Stopped, wranglerFor } from './deploy/wrangler.ts';
import { ApiError, type Service } from './operate/client.ts';
import { serviceAt } from './operate/context.ts';
import { printable } from './operate/print.ts';
import { localDirectory } from './project/paths.ts';

const healthTimeoutMs = 180_000;

const noArchive = `this account has not turned on R2, so nothing is archived: D1 keeps everything, up to its 10 GB.
  Turn on R2 in the dashboard and deploy again to have old records moved to a bucket.`;

const settingsFile = join(localDirectory, 'deploy/settings.env');
if (existsSync(settingsFile)) process.loadEnvFile(settingsFile);

const program = new Command('npm run deploy --')
  .description('Deploys the service to your Cloudflare account. Safe to run again.')
  .option('--dry-run', 'show what a deploy would do; needs no credentials and changes nothing')
  .option(
    '--check',
    'deploy nothing: check the dependencies of the service at FLEET_URL, by default the local one',
  )
  .addHelpText(
    'after',
    '\nYou can also put settings into .local/deploy/settings.env, one NAME=value per line.',
  );
const settings = settingsIn(program);

try {
  const { dryRun, check } = program.opts<{ dryRun?: boolean; check?: boolean }>();
  if (check) await mustWork(serviceAt());
  else await (dryRun ? rehearse(withKept(settings, {})) : deploy(settings));
} catch (error) {
  if (!(error instanceof Stopped || error instanceof ApiError)) throw error;
  console.error(`deploy: ${printable(error.message)}`);
  process.exitCode = 1;
}

/** The old code keeps serving while migrations apply, and until the upload is complete. */
async function deploy(settings: Settings): Promise<void> {
  const [account, signedIn] = await Promise.all([chooseAccount(wranglerFor()), credentials(wranglerFor())]);
  report(`Signed in to the account ${account.name} (${account.id})`);
  const wrangler = wranglerFor(account.id);
  const api = apiFor(account.id, signedIn);
  const found = await lookUp(api, planOf(settings));
  const effective = withKept(settings, found.vars);
  const plan = planOf(effective);
  report(`Settings:${inLines(effective, plan.vars)}`);
  const folder = join(localDirectory, 'deploy', account.id, plan.worker);
  const origin = await originOf(api, plan);
  const query = queryIn(api);
  const place = placeBeside(found.database, plan.place);
  const keys = keepMissing(folder, plan, found);
  if (!found.database) warn(placeWarning(place));
  else if (place.location)
    warn(`the database ${plan.database} exists already: --location ${place.location} cannot move it`);
  const ids = await createMissing(api, plan, found, place, report);
  if (!ids.bucket) warn(noArchive);
  const configuration = plan.configuration(ids, origin);
  const config = writeConfiguration(folder, configuration);
  const database = { id: ids.database, name: plan.database };
  const applied = await migrate(wrangler, query, config, database);
  report(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'No migrations to apply');
  await mustHaveSchema(query, database);
  if (plan.replicas) {
    const body = { read_replication: { mode: 'auto' } };
    const turnedOn = api(`/d1/database/${database.id}`, { method: 'PUT', body });
    await granted('Turning on read replication', v.unknown(), turnedOn);
    report('Lists are read from replicas of the database');
  }
  const consequences = await upload(wrangler, folder, configuration, keys);
  const secrets = keys.map(({ secret }) => secret).join(' and ');
  report(`Deployed the Worker ${plan.worker}${secrets && `, with new ${secrets}`}`);
  for (const one of consequences) warn(one);
  const unwell = await waitForHealth(origin, healthTimeoutMs);
  if (unwell) warn(`it responds, but is not healthy: ${unwell}`);
  else report('It responds and is healthy');
  console.log(nextSteps(origin, folder, keys));
  if (unwell) process.exitCode = 1;
  const file = operatorKeyFile(folder);
  const operatorKey = existsSync(file) ? readFileSync(file, 'utf8').trim() : process.env.FLEET_OPERATOR_KEY;
  if (operatorKey) await mustWork({ baseUrl: origin, operatorKey });
  else warn('not checked: set FLEET_URL and FLEET_OPERATOR_KEY, and run npm run deploy -- --check');
}

/** Checks a service's dependencies. A fault fails the command, and undoes nothing. */
async function mustWork(service: Service): Promise<void> {
  if (!(await checkService(service))) process.exitCode = 1;
}

/** Goes as far as possible without an account, in a temporary folder. */
async function rehearse(settings: Settings): Promise<void> {
  const plan = planOf(settings);
  const folder = mkdtempSync(join(tmpdir(), 'fleet-dry-run-'));
  try {
    const size = await tryUpload(wranglerFor(), writeConfiguration(folder, plan.configuration()));
    console.log(`A deploy of ${plan.worker} would
  1. find or create the KV namespace ${plan.namespace}, the database ${plan.database},
     the bucket ${plan.bucket} and the queues ${plan.queues.join(', ')};
     ${placeWarning(plan.place)}
  2. create the secrets that the Worker lacks: ${plan.secrets.join(', ')}
  3. apply the migrations that the database lacks, while the old code keeps serving
  4. upload the Worker (${size})
  5. wait until it responds, and check its dependencies

  settings of a first deploy; later ones keep those that you leave out:${inLines(settings, plan.vars)}

Nothing was called or changed.`);
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

function nextSteps(url: string, folder: string, keys: Key[]): string {
  const shown = (path: string) => relative(process.cwd(), path);
  const file = operatorKeyFile(folder);
  const operatorKey = existsSync(file)
    ? `"$(cat ${shown(file)})"`
    : '…   # the OPERATOR_KEY that the first deploy created';
  const kept = keys.map(({ secret, file }) => `\n    ${shown(file)}  ${secret}`).join('');
  const keep = `
  Store these in your team's password manager. Cloudflare never shows them again:${kept}
`;
  return `
  Fleet Data Service    ${url}
${kept && keep}
  Next, create the first account:
    export FLEET_URL=${url}
    export FLEET_OPERATOR_KEY=${operatorKey}
    npm run fleet -- account create "Acme Insurance"
    npm run fleet -- --help
`;
}
