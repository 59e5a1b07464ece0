import {
  type ChildProcess,
  type ChildProcessByStdio,
  type SpawnOptions,
  spawn,
} from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
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
export async function runWrangler(args: string[], env: Variables = {}): Promise<WranglerOutput> {
  const child = startWrangler(args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr } = child as ChildProcessByStdio<null, Readable, Readable>; // as `stdio` says
  const [out, errors, [code]] = await Promise.all([
    text(stdout),
    text(stderr),
    once(child, 'close'),
  ]);
  return { ok: code === 0, out, text: stripVTControlCharacters(out + errors) };
}

/** Runs wrangler, and returns its stdout. @throws Error, with all that it printed, if it fails */
export async function wranglerOutput(...args: string[]): Promise<string> {
  const { ok, out, text } = await runWrangler(args);
  if (!ok) throw new Error(`wrangler ${args.slice(0, 3).join(' ')} failed:\n${text}`);
  return out;
}
