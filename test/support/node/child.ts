import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { root } from '#src/cli/project/paths.ts';
import type { Variables } from '#src/cli/project/wrangler.ts';

/** Reads what a program prints, on both streams and together, until it ends with a code. */
export function watched(child: ChildProcess) {
  const ended = new Promise<number | null>((done, fail) =>
    child.on('error', fail).on('close', done),
  );
  const running = { child, out: '', err: '', printed: '', ended };
  for (const [name, stream] of [
    ['out', child.stdout],
    ['err', child.stderr],
  ] as const)
    stream?.setEncoding('utf8').on('data', (text: string) => {
      running[name] += text;
      running.printed += text;
    });
  return running;
}

type Ran = { code: number; out: string; err: string };

/** Runs a program of ours in this process, which is quicker than another. Returns what it prints, and its exit code. */
export async function runHere(
  run: (ran: Ran) => Promise<void>,
  variables: Variables = {},
): Promise<Ran> {
  const ran: Ran = { code: 0, out: '', err: '' };
  const { log, error } = console;
  console.log = (text) => {
    ran.out += `${text}\n`;
  };
  console.error = (text) => {
    ran.err += `${text}\n`;
  };
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  set(Object.entries(variables));
  try {
    await run(ran);
    ran.code ||= Number(process.exitCode ?? 0);
  } finally {
    process.exitCode = undefined;
    Object.assign(console, { log, error });
    set(before);
  }
  return ran;
}

function set(variables: (readonly [name: string, value: string | undefined])[]): void {
  for (const [name, value] of variables)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
}

/** Runs a program of ours to its end. */
export async function runToEnd(program: string, args: string[], options: SpawnOptions = {}) {
  const running = watched(spawn(process.execPath, [resolve(root, program), ...args], options));
  const code = await running.ended;
  return { ...running, code };
}

/** Runs a command of a copy of the project to its end, as if no test had started it. */
export async function runIn(copy: string, command: string) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(?:VITEST|WRANGLER_|npm_)/.test(name),
  );
  const PATH = `${join(copy, 'node_modules/.bin')}:${process.env.PATH}`;
  const env = { ...Object.fromEntries(own), PATH, NO_COLOR: '1' };
  const running = watched(spawn(command, { cwd: copy, shell: true, env }));
  const code = await running.ended;
  return { ...running, code };
}
