import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'smol-toml';
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
  /** How many isolates requests and messages are spread over. */
  isolates?: number;
};

/**
 * Starts the service from this source on real local D1, KV and Queues: applies migrations, then runs `wrangler dev`.
 * All its data is in `directory`; a stack left running there is ended first. Port 0 takes any free port; `config` may
 * change the text of wrangler.toml.
 *
 * @throws Error, when it is not up within a minute; its log is `wrangler.log` in `directory`
 */
export async function startStack({ directory, port, config, isolates = 1 }: StackOptions): Promise<Stack> {
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
  await migrate(state);
  const own = port || (await freePort());
  const vars = {
    ALLOW_LOOPBACK_RECEIVERS: 'true',
    EMAIL_FROM: 'portal@fleet-data.example',
    ORIGIN: localOrigin(own),
  };
  const configs = configurations(isolates, config, {
    ...vars,
    ...parseEnv(readFileSync(secretsFile, 'utf8')),
  });
  const files = configs.map((configuration, i) => {
    const file = join(directory, i === 0 ? 'wrangler.json' : `isolate-${i}.json`);
    writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
    return file;
  });
  const server = await startDev(directory, own, env, [
    ...files.flatMap((file) => ['--config', file]),
    ...['--assets', ownSite(directory), '--persist-to', state, '--env-file', secretsFile],
    ...Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
  ]);
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

type Toml = { name: string; vars: object; queues: { producers: object[] }; [table: string]: unknown };

const spread = join(root, 'src/dev/strict/spread.ts');

/**
 * The project's configuration, changed to run locally. With several isolates it passes everything on to others of the
 * same code, whose configurations follow.
 */
function configurations(
  isolates: number,
  change: StackOptions['config'] = (toml) => toml,
  vars: object,
): object[] {
  const toml = change(strictly(readFileSync(join(root, 'wrangler.toml'), 'utf8')));
  const main = parse(withAbsolutePaths(toml)) as Toml; // a file of ours
  if (isolates === 1) return [main];
  const { assets: _, triggers: __, secrets: ___, ...shared } = main;
  const others = Array.from({ length: isolates }, (_, i) => ({
    ...shared,
    name: `${main.name}-${i + 1}`,
    main: spread,
    vars: { ...main.vars, ...vars },
    queues: { producers: main.queues.producers },
  }));
  const services = others.map(({ name: service }, i) => ({
    ...{ binding: `ISOLATE_${i + 1}`, service, entrypoint: 'Isolate' },
  }));
  return [{ ...main, main: spread, services }, ...others];
}

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
