import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withHomes } from '../project/homes.ts';
import { root, siteDirectory } from '../project/paths.ts';
import { type Certificates, certificates } from './certificates.ts';
import { type DevServer, endLeftOver, freePort, localOrigin, startDev } from './dev.ts';
import { migrate } from './migrate.ts';

/** The service running on this machine, with its data in one folder. */
export type Stack = DevServer & {
  operatorKey: string;
  certificates: Certificates;
  /** Does what Cloudflare's clock does every minute; now, or as in a minute of another time (milliseconds since 1970). */
  minute: (at?: number) => Promise<void>;
};

export type StackOptions = {
  directory: string;
  port: number;
  config?: (toml: string) => string;
  /** Those besides main. */
  homes?: string[];
};

/**
 * Starts the service from this source on real local D1, KV and Queues: applies migrations, then runs
 * `wrangler dev`. Everything it keeps is in `directory`; a stack that a killed process left running there is
 * ended first. Port 0 takes any free port; `config` may change the text of wrangler.toml; each of
 * `homes` then gets the same as main.
 *
 * @throws Error when it is not up within a minute; its log is `wrangler.log` in `directory`
 */
export async function startStack({ directory, port, config, homes = [] }: StackOptions): Promise<Stack> {
  mkdirSync(directory, { recursive: true });
  endLeftOver(directory);
  const ready = await certificates(directory);
  const { secretsFile, operatorKey } = secrets(directory);
  const env = {
    NODE_EXTRA_CA_CERTS: ready.caFile,
    // Where Workers that bind to this very service find it, and no other of the same name.
    WRANGLER_REGISTRY_PATH: join(directory, 'registry'),
  };
  const state = join(directory, 'state');
  const configFile = configuration(directory, homes, config);
  await migrate(state, homes);
  const own = port || (await freePort());
  const server = await startDev(directory, {
    config: configFile,
    port: own,
    env,
    args: [
      ...['--assets', ownSite(directory), '--persist-to', state, '--env-file', secretsFile],
      ...['--var', 'ALLOW_LOOPBACK_RECEIVERS:true', '--var', 'EMAIL_FROM:portal@fleet-data.example'],
      ...['--var', `ORIGIN:${localOrigin(own)}`],
    ],
  });
  return {
    ...server,
    operatorKey,
    certificates: ready,
    minute: async (at = Date.now()) =>
      void (await fetch(`${server.baseUrl}/cdn-cgi/local/scheduled?cron=*+*+*+*+*&time=${at}`)),
  };
}

function secrets(directory: string): { secretsFile: string; operatorKey: string } {
  const secretsFile = join(directory, 'secrets.env');
  if (!existsSync(secretsFile)) {
    const operatorKey = randomBytes(32).toString('base64url');
    const headerKeys = `local:${randomBytes(32).toString('base64')}`;
    writeFileSync(secretsFile, `OPERATOR_KEY=${operatorKey}\nHEADER_KEYS=${headerKeys}\n`, { mode: 0o600 });
  }
  const operatorKey = /^OPERATOR_KEY=(.+)$/m.exec(readFileSync(secretsFile, 'utf8'))?.[1];
  if (!operatorKey) throw new Error(`${secretsFile} has no OPERATOR_KEY; delete the file to get a new one`);
  return { secretsFile, operatorKey };
}

/** Returns the file of the configuration: a copy of the project's own in `directory`, changed to run locally. */
function configuration(directory: string, homes: string[], change: StackOptions['config']): string {
  const changed = join(directory, 'wrangler.toml');
  const toml = strictly(readFileSync(join(root, 'wrangler.toml'), 'utf8'));
  writeFileSync(changed, withAbsolutePaths(withHomes(change ? change(toml) : toml, homes)));
  return changed;
}

/** The runtime enforces what production does, and Miniflare does not. */
const strictly = (toml: string): string =>
  toml
    .replace('main = "src/index.ts"', 'main = "src/dev/strict/worker.ts"')
    .replace('compatibility_flags = [', 'compatibility_flags = ["nodejs_als", ');

const withAbsolutePaths = (toml: string): string =>
  toml.replace(
    /^(main|migrations_dir|directory) = "(.+)"$/gm,
    (_, key, path) => `${key} = "${resolve(root, path)}"`,
  );

/** Copies the built site, so that a later build cannot take pages away from a running service. */
function ownSite(directory: string): string {
  if (!existsSync(siteDirectory)) throw new Error('The docs are not built. Run npm run assets first');
  const site = join(directory, 'site');
  rmSync(site, { recursive: true, force: true });
  cpSync(siteDirectory, site, { recursive: true });
  return site;
}
