import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { mainCell } from '../../core/platform/cells.ts';
import { siteDirectory } from '../project/paths.ts';
import { type Certificates, certificates } from './certificates.ts';
import { type Change, routed, spreadOver } from './configurations.ts';
import { type DevServer, endLeftOver, freePort, localOrigin, startDev } from './dev.ts';
import { migrate } from './migrate.ts';

export type Stack = DevServer & {
  /** Of the first cell. */
  operatorKey: string;
  /** With a router, the operator keys of its cells, by their names. */
  cells: { [cell: string]: string };
  certificates: Certificates;
  /** Runs the minute's cron job; now, or as at another time (milliseconds since 1970). */
  minute: (at?: number) => Promise<void>;
};

export type StackOptions = {
  directory: string;
  port: number;
  change?: Change;
  /** How many isolates requests and messages are spread over. */
  isolates?: number;
  /** The cells behind a router, if there is one. Those in `apart` run in stacks of their own. */
  cells?: string[];
  apart?: string[];
  /** Where the stacks of cells apart find one another; by default in `directory`. */
  registry?: string;
};

/** Starts the service with its data in `directory`. @throws Error, if it is not up in a minute */
export async function startStack({
  directory,
  port,
  change,
  isolates = 1,
  cells = [],
  apart = [],
  registry = join(directory, 'registry'),
}: StackOptions): Promise<Stack> {
  mkdirSync(directory, { recursive: true });
  endLeftOver(directory);
  const ready = await certificates(directory);
  const env = {
    NODE_EXTRA_CA_CERTS: ready.caFile,
    // Where Workers that bind to this service find it, and no other of the same name.
    WRANGLER_REGISTRY_PATH: registry,
  };
  const state = stateIn(directory);
  const here = cells.length > 0 ? cells.filter((cell) => !apart.includes(cell)) : [mainCell];
  for (const cell of here) await migrate(state, cell);
  const own = port || (await freePort());
  const vars = {
    ALLOW_LOOPBACK_RECEIVERS: 'true',
    EMAIL_FROM: 'portal@fleet-data.example',
    ORIGIN: localOrigin(own),
  };
  const found = here.map((cell) => ({ cell, ...secretsOf(directory, cell) }));
  const [first = secretsOf(directory)] = found;
  const withVars = found.map(({ cell, secrets }) => ({ cell, vars: { ...vars, ...secrets } }));
  const alone = cells.length === 0;
  const configs = alone
    ? spreadOver(isolates, { ...vars, ...first.secrets }, change)
    : routed(cells, withVars, change);
  const files = configs.map((configuration, i) => {
    // What a killed stack has left there would lead others to its address for five minutes.
    rmSync(join(registry, configuration.name), { force: true });
    const file = join(directory, i === 0 ? 'wrangler.json' : `worker-${i}.json`);
    writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
    return file;
  });
  const server = await startDev(directory, own, env, [
    ...files.flatMap((file) => ['--config', file]),
    ...['--assets', ownSite(directory), '--persist-to', state],
    // They are for the first configuration, which is the router's otherwise.
    ...(alone ? ['--env-file', first.file] : []),
    ...(alone
      ? Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`])
      : []),
  ]);
  return {
    ...server,
    operatorKey: first.operatorKey,
    cells: Object.fromEntries(found.map(({ cell, operatorKey }) => [cell, operatorKey])),
    certificates: ready,
    minute: minuteOf(server.baseUrl),
  };
}

/** Runs the minute's cron job of a local service. */
export const minuteOf =
  (baseUrl: string) =>
  async (at = Date.now()): Promise<void> =>
    void (await fetch(`${baseUrl}/cdn-cgi/local/scheduled?cron=*+*+*+*+*&time=${at}`));

/** Where a stack in `directory` keeps its databases. */
export const stateIn = (directory: string): string => join(directory, 'state');

/** A cell's secrets, made at the first start. All cells share ENCRYPTION_KEYS. */
function secretsOf(directory: string, cell = mainCell) {
  const file = join(directory, cell === mainCell ? 'secrets.env' : `secrets-${cell}.env`);
  if (!existsSync(file)) {
    const operatorKey = randomBytes(32).toString('base64url');
    const encryptionKeys =
      cell === mainCell
        ? `local:${randomBytes(32).toString('base64')}`
        : secretsOf(directory).secrets.ENCRYPTION_KEYS;
    writeFileSync(file, `OPERATOR_KEY=${operatorKey}\nENCRYPTION_KEYS=${encryptionKeys}\n`, {
      mode: 0o600,
    });
  }
  const secrets = parseEnv(readFileSync(file, 'utf8'));
  const operatorKey = secrets.OPERATOR_KEY;
  if (!operatorKey)
    throw new Error(`${file} has no OPERATOR_KEY; delete the file to get a new one`);
  return { file, secrets, operatorKey };
}

/** Copies the built site, so that a later build cannot remove pages from a running service. */
function ownSite(directory: string): string {
  if (!existsSync(siteDirectory))
    throw new Error('The docs are not built. Run npm run assets first');
  const site = join(directory, 'site');
  rmSync(site, { recursive: true, force: true });
  cpSync(siteDirectory, site, { recursive: true });
  return site;
}
