import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './paths.ts';

const program = join(root, 'node_modules/wrangler/bin/wrangler.js');

/** Turns off wrangler's telemetry, and makes it print what our programs expect. */
const environment = {
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_LOG: 'log',
  // Saves a third of each start: wrangler's own code is compiled once.
  NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node'),
  DO_NOT_TRACK: '1',
  NO_COLOR: '1',
};

export type Variables = { [name: string]: string | undefined };

/** The output of a wrangler command: stdout, and all of it without colours. */
export type WranglerOutput = { ok: boolean; out: string; text: string };

/** Starts the project's own wrangler with `args`, by default in the project's folder. */
export function startWrangler(
  args: string[],
  { env, ...options }: Omit<SpawnOptions, 'env'> & { env?: Variables } = {},
): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    cwd: root,
    ...options,
    env: { ...process.env, ...environment, ...env },
  });
}

/** Runs wrangler to its end, with `env` added to the environment. It cannot ask questions. */
export const runWrangler = (args: string[], env: Variables = {}): Promise<WranglerOutput> =>
  new Promise((done, fail) => {
    const child = startWrangler(args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
      text += chunk;
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    child.on('error', fail);
    child.on('close', (code) => done({ ok: code === 0, out, text: stripVTControlCharacters(text) }));
  });
