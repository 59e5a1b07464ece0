import { type ChildProcess, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startWrangler, type Variables } from '../project/wrangler.ts';

export type DevServer = {
  baseUrl: string;
  /** When it has ended, perhaps by itself: a change of the source may break it. */
  ended: Promise<unknown>;
  stop: () => Promise<void>;
  /** Ends all of it at once, as a power cut would. */
  kill: () => void;
};

const environment = {
  // Otherwise wrangler asks questions.
  CI: 'true',
  // Wrangler would store every request and log line for an unused page, at half the speed.
  X_LOCAL_OBSERVABILITY: 'false',
  // Prevents wrangler's own debugger, which slows down every line of the log.
  VSCODE_INSPECTOR_OPTIONS: '{}',
};

/** Serves what `args` configure. @throws Error, if it is not up in a minute */
export async function startDev(
  directory: string,
  port: number,
  env: Variables,
  args: string[],
): Promise<DevServer> {
  mkdirSync(directory, { recursive: true });
  const logFile = join(directory, 'wrangler.log');
  const log = openSync(logFile, 'w');
  const child = startWrangler(
    [
      ...['dev', '--ip', '127.0.0.1', '--port', String(port)],
      ...['--inspector-port', '0', '--show-interactive-dev-session=false', ...args],
    ],
    {
      env: { ...environment, ...env },
      stdio: ['ignore', log, log],
      detached: true, // a process group of its own, so that all of it can be ended
    },
  );
  writeFileSync(pidFile(directory), String(child.pid));
  const baseUrl = await untilReady(child, logFile);
  return {
    baseUrl,
    ended: once(child, 'exit'),
    stop: () => end(child, directory),
    kill: () => signal(child.pid, 'SIGKILL'),
  };
}

export const localOrigin = (port: number | string): string => `http://localhost:${port}`;

/** A free TCP port that no system assigns, so that it is still free a moment later. */
export async function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return port;
  } catch {
    return freePort();
  } finally {
    server.close();
  }
}

const pidFile = (directory: string) => join(directory, 'wrangler.pid');

/** Returns the address that wrangler reports: elsewhere, some other server may respond. */
async function untilReady(child: ChildProcess, logFile: string): Promise<string> {
  for (const until = Date.now() + 60_000; Date.now() < until; await wait(100)) {
    const log = readFileSync(logFile, 'utf8');
    if (child.exitCode !== null) {
      const reason = /Address already in use \(.+?\)/.exec(log)?.[0];
      throw new Error(`The service did not start${reason ? `: ${reason}` : ''}; see ${logFile}`);
    }
    const port = /Ready on http:\/\/127\.0\.0\.1:(\d+)\s/.exec(log)?.[1];
    if (!port) continue;
    const up = await fetch(localOrigin(port)).catch(() => undefined);
    await up?.body?.cancel();
    if (up) return localOrigin(port);
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
    await Promise.race([ended, wait(5000, undefined, { ref: false })]);
  }
  signal(child.pid, 'SIGKILL');
  rmSync(pidFile(directory), { force: true });
}

/** Ends a server that a killed process left in `directory`, if its process id is still its own. */
export function endLeftOver(directory: string): void {
  if (!existsSync(pidFile(directory))) return;
  const pid = Number(readFileSync(pidFile(directory), 'utf8'));
  const command =
    spawnSync('ps', ['-p', String(pid), '-o', 'command='], { encoding: 'utf8' }).stdout ?? '';
  if (command.includes('wrangler') && command.includes(directory)) signal(pid, 'SIGKILL');
  rmSync(pidFile(directory), { force: true });
}
