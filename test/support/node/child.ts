import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { root } from '#src/cli/project/paths.ts';

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

/** Runs a program of ours to its end. */
export async function runToEnd(program: string, args: string[], options: SpawnOptions = {}) {
  const running = watched(spawn(process.execPath, [resolve(root, program), ...args], options));
  const code = await running.ended;
  return { ...running, code };
}
