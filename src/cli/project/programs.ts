import { spawnSync } from 'node:child_process';
import { root } from './paths.ts';

/** Runs a program in Node, at a path in the project, and returns its output. @throws Error, with `what` failed */
export function runProgram(what: string, path: string, ...args: string[]): string {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const options = { cwd: root, env, encoding: 'utf8', maxBuffer: 2 ** 28 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...args], options);
  if (status !== 0) throw new Error(`${what} failed:\n${stdout}${stderr}`);
  return stdout;
}
