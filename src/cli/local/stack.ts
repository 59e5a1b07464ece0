import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv as parsed } from 'node:util';
import { withHomes } from '../project/homes.ts';
import { root, siteDirectory } from '../project/paths.ts';
import { type Certificates, certificates } from './certificates.ts';
import { type DevServer, endLeftOver, freePort, localOrigin, startDev } from './dev.ts';
import { migrate } from './migrate.ts';

/** The service running on this machine, with its data in one folder. */
export type Stack = DevServer & {
  operatorKey: string;
  certificates: Certificates;
  /** Runs the minute's cron job; now, or as at another time (milliseconds since 1970). */
  minute: (at?: number) => Promise<void>;
};

export type StackOptions = {
  directory: string;
  port: number;
  config?: (toml: string) => string;
  /** Those besides main. */
  homes?: string[];
  /** How many isolates requests and messages are spread over. */
  isolates?: number;
};

/**
 * Starts the service from this source on real local D1, KV and Queues: applies migrations, then runs `wrangler dev`.
 * All its data is in `directory`; a stack left running there is ended first. Port 0 takes any free port; `config` may
 * change the text of wrangler.toml; each of `homes` gets the same as main.
 *
 * @throws Error, when it is not up within a minute; its log is `wrangler.log` in `directory`
 */
export async function startStack({
  directory,
  port,
  config,
  homes = [],
  isolates = 1,
}: StackOptions): Promise<Stack> {
  mkdirSync(directory, { recursive: true });
  endLeftOver(directory);
  const ready = await certificates(directory);
  const { secretsFile, operatorKey } = secrets(directory);
  const env = {
    NODE_EXTRA_CA_CERTS: ready.caFile,
    // Where Workers that bind to this service find it, and no other of the same name.
    WRANGLER_REGISTRY_PATH: join(directory, 'registry'),
  };
  const state = join(directory, 'state');
  await migrate(state, homes);
  const own = port || (await freePort());
  const vars = {
    ALLOW_LOOPBACK_RECEIVERS: 'true',
    EMAIL_FROM: 'portal@fleet-data.example',
    ORIGIN: localOrigin(own),
  };
  const toml = configuration(homes, config);
  const others =
    isolates > 1 ? isolateFiles(directory, toml, isolates, { ...vars, ...parseEnv(secretsFile) }) : [];
  const configFile = join(directory, 'wrangler.toml');
  writeFileSync(configFile, others.length > 0 ? spreading(toml, isolates) : toml);
  const server = await startDev(directory, {
    config: configFile,
    port: own,
    env,
    args: [
      ...others.flatMap((file) => ['--config', file]),
      ...['--assets', ownSite(directory), '--persist-to', state, '--env-file', secretsFile],
      ...Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
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

/** The project's configuration, changed to run locally. */
function configuration(homes: string[], change: StackOptions['config']): string {
  const toml = strictly(readFileSync(join(root, 'wrangler.toml'), 'utf8'));
  return withAbsolutePaths(withHomes(change ? change(toml) : toml, homes));
}

const spread = join(root, 'src/dev/strict/spread.ts');
const isolateName = (toml: string, i: number) => `${/^name = "(.+)"$/m.exec(toml)?.[1]}-${i}`;

/** Makes the Worker pass everything on to others of the same code, each in an isolate of its own. */
const spreading = (toml: string, isolates: number): string =>
  [
    toml.replace(/^main = .*$/m, `main = "${spread}"`),
    ...numbersTo(isolates).map(
      (i) =>
        `[[services]]\nbinding = "ISOLATE_${i}"\nservice = "${isolateName(toml, i)}"\nentrypoint = "Isolate"\n`,
    ),
  ].join('\n');

/** Writes the configurations of these others. Returns their files. */
function isolateFiles(directory: string, toml: string, isolates: number, vars: object): string[] {
  const own = toml
    .replace(/^main = .*$/m, `main = "${spread}"`)
    .replace(/^\[\[queues\.consumers\]\]\n(?:.+\n)+/gm, '')
    .replace(/^\[(?:assets|triggers|secrets)\]\n(?:.+\n)+/gm, '')
    .replace(
      '[vars]\n',
      `[vars]\n${Object.entries(vars)
        .map(([name, value]) => `${name} = "${value}"\n`)
        .join('')}`,
    );
  return numbersTo(isolates).map((i) => {
    const file = join(directory, `isolate-${i}.toml`);
    writeFileSync(file, own.replace(/^name = .*$/m, `name = "${isolateName(toml, i)}"`), { mode: 0o600 });
    return file;
  });
}

const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

const parseEnv = (file: string) => parsed(readFileSync(file, 'utf8'));

/** The runtime enforces production's limits, unlike Miniflare. */
const strictly = (toml: string): string =>
  toml
    .replace('main = "src/index.ts"', 'main = "src/dev/strict/worker.ts"')
    .replace('compatibility_flags = [', 'compatibility_flags = ["nodejs_als", ');

const withAbsolutePaths = (toml: string): string =>
  toml.replace(
    /^(main|migrations_dir|directory) = "(.+)"$/gm,
    (_, key, path) => `${key} = "${resolve(root, path)}"`,
  );

/** Copies the built site, so that a later build cannot remove pages from a running service. */
function ownSite(directory: string): string {
  if (!existsSync(siteDirectory)) throw new Error('The docs are not built. Run npm run assets first');
  const site = join(directory, 'site');
  rmSync(site, { recursive: true, force: true });
  cpSync(siteDirectory, site, { recursive: true });
  return site;
}
