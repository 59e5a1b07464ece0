import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientDirectory } from '#src/cli/client/build.ts';
import { root } from '#src/cli/project/paths.ts';
import { minuteMs } from '#src/core/platform/durations.ts';
import { ago, safetyEvent } from '#test/support/records.ts';
import { watched } from './child.ts';
import { readText, temporaryFolder } from './folder.ts';
import { sharedAccount } from './journey.ts';
import { samples } from './samples.ts';

/** The vehicles that a reader of the guides finds. */
export const vehicles = ['A', 'B', 'C', 'D', 'E'].map((letter) => ({
  kind: 'vehicle',
  sourceId: letter,
  name: `Truck ${letter}`,
  vin: `1FUJGLDR5CLBP883${letter}`,
}));

/** A safety event of the first of them. */
export const event = (sourceId: string, minutesAgo: number) =>
  safetyEvent({ sourceId, vehicle: 'A', startedAt: ago(minutesAgo * minuteMs) });

export type Settings = Record<string, string>;

/** A sample that runs, and what it has printed. */
export type Running = ReturnType<typeof watched>;

/** A reader of the guides, with an account, a fleet, and the samples in a folder. @throws Error without Python 3 */
export async function startReader() {
  if (spawnSync('python3', ['--version']).status !== 0)
    throw new Error("The guides' samples in Python need python3 on the PATH.");
  const folder = temporaryFolder();
  const packages = join(folder, 'node_modules'); // what the guides have installed
  mkdirSync(packages);
  symlinkSync(join(root, 'node_modules/standardwebhooks'), join(packages, 'standardwebhooks'));
  symlinkSync(clientDirectory, join(packages, 'fleet-data-client'));
  for (const { name, code } of samples) if (name) writeFileSync(join(folder, name), code);
  const { stack, us } = await sharedAccount();
  const usual = { BASE_URL: stack.baseUrl, TOKEN: us.token, CONNECTION_ID: us.connectionId };

  await us.send(vehicles);

  const ran = new Set<string>();
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
  });

  /** Starts a sample in `cwd`, with nothing in its environment but PATH and settings. */
  const start = (name: string, settings: Settings = {}, cwd = folder): Running => {
    ran.add(name);
    const env = { PATH: process.env.PATH, ...usual, ...settings };
    const [, ending = ''] = name.split('.');
    const program = { ts: process.execPath, py: 'python3' }[ending] ?? 'bash';
    const child = spawn(program, [join(folder, name)], { cwd, env });
    children.push(child);
    return watched(child);
  };

  const run = async (name: string, settings?: Settings, cwd?: string) => {
    const running = start(name, settings, cwd);
    return { code: await running.ended, out: running.printed };
  };

  /** Sources a sample in a shell. Returns the shell's environment. */
  const source = (name: string): string[] => {
    ran.add(name);
    const options = { cwd: folder, encoding: 'utf8' } as const;
    return spawnSync('bash', ['-c', '. "./$0" && env', name], options).stdout.split('\n');
  };

  /** A folder to run samples in that keep files. */
  const folderFor = (name: string): string => {
    mkdirSync(join(folder, name));
    return join(folder, name);
  };
  return { stack, us, folder, start, run, source, ran, folderFor };
}

/** What a sample has kept in a file of one JSON value a line. */
export const kept = (...path: string[]): { id: string; sourceId?: string }[] =>
  readText(...path)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
