import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Key } from './keys.ts';
import { must, Stopped, type Wrangler } from './wrangler.ts';

const Deployed = v.object({ type: v.literal('deploy'), targets: v.array(v.string()) });

/** Writes a configuration into `folder` and returns the file's path. */
export function writeConfiguration(folder: string, configuration: object): string {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'wrangler.json');
  writeFileSync(file, `${JSON.stringify(configuration, null, 2)}\n`);
  return file;
}

/** Applies the migrations that the database lacks and returns their names; `where` is said of a failure. @throws Stopped */
export async function migrate(
  wrangler: Wrangler,
  config: string,
  database: string,
  where: string,
): Promise<string[]> {
  const args = ['d1', 'migrations', 'apply', database, '--remote', '--config', config];
  const { text } = await must(`Applying the migrations${where}`, wrangler(args));
  return [...new Set(text.match(/\b\d{4}_\w+\.sql\b/g))];
}

/** Bundles the Worker and checks its configuration, offline. Returns its size in words. @throws Stopped */
export async function tryUpload(wrangler: Wrangler, config: string): Promise<string> {
  const { text } = await must('Bundling', wrangler(['deploy', '--dry-run', '--config', config]));
  return /Total Upload: (.+)/.exec(text)?.[1] ?? 'of unknown size';
}

/** Speeds up deliveries where Cloudflare has it; it has no default date, so it may not be there. */
const optionalFlag = 'queue_consumer_no_wait_for_wait_until';

const Flagged = v.looseObject({ compatibility_flags: v.array(v.string()) });

/**
 * Uploads the new code with `keys` as secrets, and keeps all other secrets. Without a compatibility flag that
 * Cloudflare refuses and that the service can do without, it tries again. Returns the Worker's address, and whether
 * that was so. @throws Stopped
 */
export async function upload(
  wrangler: Wrangler,
  config: string,
  folder: string,
  keys: Key[],
): Promise<{ url: string; flagRefused: boolean }> {
  const secrets = join(folder, 'secrets.json');
  const output = join(folder, 'output.ndjson');
  rmSync(output, { force: true });
  const args = ['deploy', '--config', config];
  if (keys.length > 0) {
    const values = Object.fromEntries(keys.map(({ secret, value }) => [secret, value]));
    writeFileSync(secrets, JSON.stringify(values), { mode: 0o600 });
    args.push('--secrets-file', secrets);
  }
  const deploy = () => wrangler(args, { WRANGLER_OUTPUT_FILE_PATH: output });
  try {
    let deployed = await deploy();
    const flagRefused = !deployed.ok && deployed.text.includes(optionalFlag);
    if (flagRefused) {
      const { compatibility_flags: flags, ...rest } = v.parse(
        Flagged,
        JSON.parse(readFileSync(config, 'utf8')),
      );
      const others = flags.filter((flag) => flag !== optionalFlag);
      writeConfiguration(folder, { ...rest, compatibility_flags: others });
      deployed = await deploy();
    }
    await must('Deploying the Worker', deployed);
    return { url: addressIn(readFileSync(output, 'utf8')), flagRefused };
  } finally {
    rmSync(secrets, { force: true });
  }
}

/** Finds the address among wrangler's targets, such as `https://…` or `api.example.com (custom domain)`. */
function addressIn(output: string): string {
  for (const line of output.trim().split('\n')) {
    const { success, output } = v.safeParse(Deployed, JSON.parse(line));
    if (!success) continue;
    const custom = output.targets.find((target) => target.endsWith(' (custom domain)'));
    const address = custom
      ? `https://${custom.split(' ')[0]}`
      : output.targets.find((target) => target.startsWith('https://'));
    if (address) return address;
  }
  throw new Stopped(
    'Deployed, but wrangler did not report the address. Find it under Workers & Pages in the dashboard.',
  );
}
