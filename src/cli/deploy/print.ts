import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { keyVariable } from '../operate/client.ts';
import { wranglerFor } from '../project/cloudflare.ts';
import { operatorKeyFile } from './keys.ts';
import { type Plan, planOf } from './plan.ts';
import { type Cells, deployedRouter, routerName } from './router.ts';
import { inLines, placeWarning, type Settings, withKept } from './settings.ts';
import { tryUpload, writeConfiguration } from './upload.ts';

export const report = (line: string): void => console.log(`✓ ${line}`);
export const warn = (text: string): void =>
  console.log(`! ${text[0]?.toUpperCase()}${text.slice(1)}`);

/** Goes as far as a deploy can without an account, and prints its steps. @throws Stopped */
export async function rehearse(chosen: Settings, cells: Cells | undefined): Promise<void> {
  const { name = routerName, domain } = chosen;
  const settings = withKept(chosen, {});
  const plan = planOf(settings);
  const folder = mkdtempSync(join(tmpdir(), 'fleet-dry-run-'));
  try {
    const configuration = cells ? deployedRouter(cells, name, !domain) : plan.configuration();
    const size = await tryUpload(wranglerFor(), writeConfiguration(folder, configuration));
    const steps = cells ? stepsOfRouter(cells, domain, size) : stepsOf(plan, size);
    const lines = steps.map((step, i) => `\n  ${i + 1}. ${step}`).join('');
    const kept = `\n\n  Settings of a first deploy; later ones keep those that you leave out:${inLines(settings, plan.vars)}`;
    const what = cells ? `the router ${name}` : plan.worker;
    console.log(`A deploy of ${what} would${lines}${cells ? '' : kept}`);
    console.log('\nNothing was called or changed.');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const stepsOf = (plan: Plan, size: string): string[] => [
  `find or create the KV namespace ${plan.namespace}, the database ${plan.database},
     the bucket ${plan.bucket} and the queues ${plan.queues.join(', ')};
     ${placeWarning(plan.place)}`,
  `create the secrets that the Worker lacks: ${plan.secrets.join(', ')}`,
  'apply the migrations that the database lacks, while the old code keeps serving',
  `upload the Worker (${size}), wait until it responds, and check its dependencies`,
];

const stepsOfRouter = (cells: Cells, domain = 'one address', size: string): string[] => [
  `make sure that these are deployed as cells of ${domain}:` +
    [...cells].map(([cell, worker]) => `\n     ${cell}: the Worker ${worker}`).join(''),
  `upload the router (${size}), bound to them, which takes over that address, and wait until all are healthy`,
];

/** What to do after a deploy. */
export function nextSteps({ cell }: Plan, url: string, folder: string): string {
  const file = operatorKeyFile(folder);
  const ofFirst = '…   # the OPERATOR_KEY that the first deploy created';
  const operatorKey = existsSync(file) ? `"$(cat ${relative(process.cwd(), file)})"` : ofFirst;
  return `
  Fleet Data Service    ${url}

  Next, create the first account:
    export FLEET_URL=${url}
    export ${keyVariable(cell)}=${operatorKey}
    npm run fleet -- account create "Acme Insurance"${cell ? ` --cell ${cell}` : ''}
    npm run fleet -- --help
`;
}
