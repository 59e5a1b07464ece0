import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { watched } from './child.ts';
import { temporaryFolder } from './folder.ts';
import { until } from './journey.ts';

const root = resolve(import.meta.dirname, '../../..');
const madeHere = ['.git', 'node_modules', '.local', '.wrangler', 'coverage'];

/** A fresh clone of this source, its packages installed, in which a reader follows the README. */
export function cloneSource() {
  const folder = temporaryFolder();
  for (const name of readdirSync(root))
    if (!madeHere.includes(name)) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const git = (...args: string[]) => {
    const identity = ['-c', 'user.name=A reader', '-c', 'user.email=reader@example.com'];
    const { status, stdout, stderr } = spawnSync('git', [...identity, ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'As it was cloned');
  return {
    folder,
    /** What `git status` says has changed since: nothing, if the README keeps its promise. */
    changes: () => git('status', '--porcelain'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs `npm start` in a clone, under a shell in place of npm. Stopping ends the shell alone. @throws Error when it is not up in two minutes */
export async function npmStart(folder: string, port: number, ...args: string[]) {
  const program = join(folder, 'src/cli/start.ts');
  const running = watched(
    spawn(
      'sh',
      ['-c', '"$0" "$@" & wait', process.execPath, program, '--port', String(port), ...args],
      { cwd: folder },
    ),
  );
  await until('npm start is up', () => existsSync(join(folder, '.local/demo.json')), 110);
  return {
    printed: () => running.printed,
    stop: async () => {
      running.child.kill('SIGTERM');
      await running.ended; // once nothing is left that could print
    },
  };
}
