import type { ChildProcess } from 'node:child_process';

/** Reads what a program prints, on both streams and together, until it ends with a code. */
export function watched(child: ChildProcess) {
  const ended = new Promise<number | null>((done, fail) => child.on('error', fail).on('close', done));
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
