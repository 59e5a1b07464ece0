import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Certificates, certificates } from './certificates.ts';

const root = resolve(import.meta.dirname, '../../..');
const wrangler = join(root, 'node_modules/wrangler/bin/wrangler.js');
const quietly = {
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  // A database of every request and line, for a page that nobody opens; it took half the service's speed.
  X_LOCAL_OBSERVABILITY: 'false',
  // Wrangler then attaches no debugger of its own, through which every line of the log would go.
  VSCODE_INSPECTOR_OPTIONS: '{}',
  DO_NOT_TRACK: '1',
  NO_COLOR: '1',
};

/** The service running on this machine, with its data under one folder. */
export type Stack = {
  baseUrl: string;
  operatorKey: string;
  certificates: Certificates;
  /** Does what Cloudflare's clock does every minute. */
  minute: () => Promise<void>;
  stop: () => Promise<void>;
  /** Ends all of it at once, as a power cut would. */
  kill: () => void;
};

export type StackOptions = { directory: string; port: number; config?: (toml: string) => string };

/**
 * Starts the service from this source on real local D1, KV and Queues: applies migrations, then runs
 * `wrangler dev`. What it keeps lives in `directory`; a stack left over there by a process that was killed
 * is ended first. Port 0 takes any free one; `config` may change the configuration's text.
 *
 * @throws Error when it is not up within a minute; its log is `wrangler.log` in `directory`
 */
export async function startStack({ directory, port, config }: StackOptions): Promise<Stack> {
  mkdirSync(directory, { recursive: true });
  endLeftOver(directory);
  const ready = await certificates(directory);
  const { secretsFile, operatorKey } = secrets(directory);
  const env = {
    ...process.env,
    ...quietly,
    CI: 'true',
    NODE_EXTRA_CA_CERTS: ready.caFile,
    // Where Workers that bind to this very service find it, and no other of the same name.
    WRANGLER_REGISTRY_PATH: join(directory, 'registry'),
  };
  const state = join(directory, 'state');
  const toml = join(root, 'wrangler.toml');
  const configFile = config ? join(directory, 'wrangler.toml') : toml;
  if (config) writeFileSync(configFile, fromAnywhere(config(readFileSync(toml, 'utf8'))));
  migrate(state, env, configFile);

  const logFile = join(directory, 'wrangler.log');
  const log = openSync(logFile, 'w');
  const args = [
    'dev',
    '--config',
    configFile,
    '--port',
    String(port),
    '--ip',
    '127.0.0.1',
    '--inspector-port',
    '0',
  ];
  args.push('--persist-to', state, '--env-file', secretsFile, '--var', 'ALLOW_LOOPBACK_RECEIVERS:true');
  args.push('--show-interactive-dev-session=false');
  const child = spawn(process.execPath, [wrangler, ...args], {
    cwd: root,
    env,
    stdio: ['ignore', log, log],
    detached: true, // a process group of its own, so that all of it can be ended
  });
  writeFileSync(pidFile(directory), String(child.pid));
  const baseUrl = await untilReady(child, logFile);
  return {
    baseUrl,
    operatorKey,
    certificates: ready,
    minute: async () => void (await fetch(`${baseUrl}/cdn-cgi/local/scheduled?cron=*+*+*+*+*`)),
    stop: () => end(child, directory),
    kill: () => signal(child.pid, 'SIGKILL'),
  };
}

/** A configuration whose paths hold wherever it lies. */
const fromAnywhere = (toml: string): string =>
  toml.replace(
    /^(main|migrations_dir|directory) = "(.+)"$/gm,
    (_, key, path) => `${key} = "${resolve(root, path)}"`,
  );

const pidFile = (directory: string) => join(directory, 'wrangler.pid');

function secrets(directory: string): { secretsFile: string; operatorKey: string } {
  const secretsFile = join(directory, 'secrets.env');
  if (!existsSync(secretsFile)) {
    const operatorKey = randomBytes(32).toString('base64url');
    const headerKeys = `local:${randomBytes(32).toString('base64')}`;
    writeFileSync(secretsFile, `OPERATOR_KEY=${operatorKey}\nHEADER_KEYS=${headerKeys}\n`, { mode: 0o600 });
  }
  const operatorKey = /^OPERATOR_KEY=(.+)$/m.exec(readFileSync(secretsFile, 'utf8'))?.[1];
  if (!operatorKey) throw new Error(`${secretsFile} holds no OPERATOR_KEY; delete it to make a new one`);
  return { secretsFile, operatorKey };
}

function migrate(state: string, env: NodeJS.ProcessEnv, config: string): void {
  const args = [
    wrangler,
    '--config',
    config,
    'd1',
    'migrations',
    'apply',
    'DB',
    '--local',
    '--persist-to',
    state,
  ];
  const done = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`Migrations failed:\n${done.stdout}${done.stderr}`);
}

/** Answers where the service is, by its own word: on a port that is taken another one would answer. */
async function untilReady(child: ChildProcess, logFile: string): Promise<string> {
  for (
    const until = Date.now() + 60_000;
    Date.now() < until;
    await new Promise((on) => setTimeout(on, 100))
  ) {
    const log = readFileSync(logFile, 'utf8');
    if (child.exitCode !== null) {
      const why = /Address already in use \(.+?\)/.exec(log)?.[0];
      throw new Error(`The service did not start${why ? `: ${why}` : ''}; see ${logFile}`);
    }
    const port = /Ready on http:\/\/127\.0\.0\.1:(\d+)\s/.exec(log)?.[1];
    if (!port) continue;
    const up = await fetch(`http://localhost:${port}/`).catch(() => undefined);
    if (up?.headers.has('x-request-id')) return `http://localhost:${port}`;
  }
  signal(child.pid, 'SIGKILL');
  throw new Error(`The service was not up within a minute; see ${logFile}`);
}

function signal(pid: number | undefined, name: NodeJS.Signals): void {
  try {
    if (pid) process.kill(-pid, name);
  } catch {
    // it has ended already
  }
}

async function end(child: ChildProcess, directory: string): Promise<void> {
  const ended = new Promise((done) => child.once('exit', done));
  if (child.exitCode === null && child.signalCode === null) {
    signal(child.pid, 'SIGTERM');
    await Promise.race([ended, new Promise((done) => setTimeout(done, 5000))]);
  }
  signal(child.pid, 'SIGKILL');
  rmSync(pidFile(directory), { force: true });
}

/** Ends what a start that was killed has left running here, if that is still what the process id names. */
function endLeftOver(directory: string): void {
  if (!existsSync(pidFile(directory))) return;
  const pid = Number(readFileSync(pidFile(directory), 'utf8'));
  const command = spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? '';
  if (command.includes('wrangler') && command.includes(directory)) signal(pid, 'SIGKILL');
  rmSync(pidFile(directory), { force: true });
}
