import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Command, Option } from 'commander';
import * as v from 'valibot';
import { chooseAccount, createMissing, lookUp } from './deploy/account.ts';
import { untilItAnswers } from './deploy/answers.ts';
import { type Key, keepMissing, operatorKeyFile } from './deploy/keys.ts';
import { type Plan, planOf, Settings } from './deploy/plan.ts';
import { migrate, tryUpload, upload, writeConfiguration } from './deploy/upload.ts';
import { Stopped, wranglerFor } from './deploy/wrangler.ts';
import { localDirectory } from './project/paths.ts';

const patienceMs = 180_000;

const settingsFile = join(localDirectory, 'deploy/settings.env');
if (existsSync(settingsFile)) process.loadEnvFile(settingsFile);
const setting = (flags: string, description: string, env: string) => new Option(flags, description).env(env);

const program = new Command('npm run deploy --')
  .description('Deploys the service to your Cloudflare account; safe to run again.')
  .addOption(setting('--name <name>', 'of the Worker, and in front of all it uses', 'DEPLOY_NAME'))
  .addOption(setting('--domain <host>', 'where it is served, of a zone in the account', 'DEPLOY_DOMAIN'))
  .addOption(setting('--email-from <address>', 'who sign-in links come from', 'DEPLOY_EMAIL_FROM'))
  .addOption(
    setting('--retention-days <days>', 'how long finished deliveries are kept', 'DEPLOY_RETENTION_DAYS'),
  )
  .option('--dry-run', 'show what would be done, and bundle; calls nobody and needs no credentials')
  .addHelpText('after', '\nSettings may stand in .local/deploy/settings.env, one NAME=value a line.')
  .parse();

try {
  await run();
} catch (error) {
  if (!(error instanceof Stopped)) throw error;
  console.error(`deploy: ${error.message}`);
  process.exitCode = 1;
}

async function run(): Promise<void> {
  const { dryRun, ...options } = program.opts<{ dryRun?: boolean } & Settings>();
  // GitHub's variables are empty where they are not set.
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== ''));
  const settings = v.safeParse(Settings, given);
  if (!settings.success) throw new Stopped(settings.issues[0].message);
  const plan = planOf(settings.output);
  if (dryRun) await rehearse(plan);
  else await deploy(plan);
}

/** Old code serves on while migrations apply, and until the upload is complete. */
async function deploy(plan: Plan): Promise<void> {
  const account = await chooseAccount(wranglerFor());
  tell(`Signed in to the account ${account.name} (${account.id})`);
  const wrangler = wranglerFor(account.id);
  const folder = join(localDirectory, 'deploy', account.id, plan.worker);
  const found = await lookUp(wrangler, plan);
  const keys = keepMissing(folder, plan, found);
  const ids = await createMissing(wrangler, plan, found, tell);
  const config = writeConfiguration(folder, plan.configuration(ids));
  const applied = await migrate(wrangler, config, plan.database);
  tell(applied.length > 0 ? `Applied ${applied.join(', ')}` : 'No migrations to apply');
  const url = await upload(wrangler, config, folder, keys);
  tell(
    `Deployed the Worker ${plan.worker}${keys.length > 0 ? `, with new ${keys.map(({ secret }) => secret).join(' and ')}` : ''}`,
  );
  const problem = await untilItAnswers(url, patienceMs);
  tell(problem ? `It answers, but is not well: ${problem}` : 'It answers, and is healthy');
  console.log(nextSteps(url, folder, keys));
}

/** What a deploy would do, and as much of it as needs no account. */
async function rehearse(plan: Plan): Promise<void> {
  const folder = join(localDirectory, 'deploy/dry-run', plan.worker);
  const config = writeConfiguration(folder, plan.configuration());
  const size = await tryUpload(wranglerFor(), config);
  console.log(`A deploy of ${plan.worker} would
  1. find or create the database ${plan.database}, the KV namespace ${plan.namespace} and the queues ${plan.queues.join(', ')}
  2. make the secrets that are missing of ${plan.secrets.join(', ')}
  3. apply the migrations that the database lacks, while the old code serves
  4. upload the Worker (${size})
  5. wait until it answers
Its configuration, without ids: ${shown(config)}
Nothing was called or changed.`);
}

function tell(line: string): void {
  console.log(`✓ ${line}`);
}

function shown(path: string): string {
  return relative(process.cwd(), path);
}

function nextSteps(url: string, folder: string, keys: Key[]): string {
  const file = operatorKeyFile(folder);
  const operatorKey = existsSync(file)
    ? `"$(cat ${shown(file)})"`
    : '…   # the OPERATOR_KEY of the first deploy';
  const kept = keys.map(({ secret, file }) => `\n    ${shown(file)}  ${secret}`).join('');
  const keep = `
  Keep these where your team keeps passwords; Cloudflare shows them to nobody:${kept}
`;
  return `
  Fleet Data Service    ${url}
${kept && keep}
  Next, the first customer:
    export FLEET_URL=${url}
    export FLEET_OPERATOR_KEY=${operatorKey}
    npm run fleet -- account create "Acme Insurance"
    npm run fleet -- --help
`;
}
