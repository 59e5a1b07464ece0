import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { until } from './journey.ts';

export type Printed = { out: string; code: number };

/** A terminal with bash in a folder, in which a reader pastes one block after the other. */
export function openTerminal(cwd: string) {
  // Its `node` is the one that runs the tests.
  const path = [dirname(process.execPath), process.env.PATH].join(':');
  const env = [`PATH=${path}`, `HOME=${process.env.HOME ?? ''}`];
  // A process group of its own, so that closing it also ends what runs in it.
  const shell = spawn('env', ['-i', ...env, 'bash', '--norc'], { cwd, detached: true });
  let screen = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    screen += text;
  });
  shell.stdin.write('exec 2>&1\n');

  /** Pastes a block that keeps running, such as a receiver; what it prints is on the screen. */
  const start = (block: string): void => {
    shell.stdin.write(`${block}\n`);
  };

  /** Pastes a block and waits for its end. @throws Error when it has not ended after a minute */
  const paste = async (block: string): Promise<Printed> => {
    const mark = randomUUID();
    const before = screen.length;
    start(`${block}\nprintf '\\n%s %s\\n' ${mark} $?`);
    const end = new RegExp(`\\n${mark} (\\d+)\\n`);
    await until(`this has ended:\n${block}\n${screen}`, () => end.test(screen), 60);
    const [shown = '', code] = screen.slice(before).split(end);
    return { out: shown, code: Number(code) };
  };

  const close = (): void => {
    if (shell.pid && shell.exitCode === null) process.kill(-shell.pid, 'SIGKILL');
  };
  return { start, paste, close, screen: () => screen };
}
