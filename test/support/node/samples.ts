import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { readGuides } from '#src/docs/pages/guides.ts';
import { readFence } from '#src/docs/pages/markdown.ts';
import { watched } from './child.ts';

const programs = { bash: 'bash', ts: process.execPath, python: 'python3' } as const;
type Language = keyof typeof programs;
const isProgram = (language: string): language is Language => Object.hasOwn(programs, language);

/** A fenced block; the name of one that has none is empty. */
export type Block = { language: string; name: string; code: string };

/** The fenced blocks of a page, from top to bottom. */
export const blocksOf = (markdown: string): Block[] =>
  new MarkdownIt()
    .parse(markdown, {})
    .filter(({ type }) => type === 'fence')
    .map(({ info, content }) => {
      const { language, name = '' } = readFence(info);
      return { language, name, code: content };
    });

const blocks = readGuides().flatMap(({ markdown }) => blocksOf(markdown));

/** A block that a reader runs. */
export type Sample = Block & { language: Language };

export const isSample = (block: Block): block is Sample => isProgram(block.language);

/** Every block of curl, TypeScript and Python in the guides. */
export const samples: Sample[] = blocks.filter(isSample);

/** Every block of JSON in the guides. */
export const jsonBlocks = blocks
  .filter(({ language }) => language === 'json')
  .map(({ code }) => code);

/** The samples of receivers and webhooks, which have tests of their own. */
export const isOfReceivers = ({ name }: Sample): boolean =>
  /receiver|webhook|knock|register|provider|reconcile|deliveries|missed|replay|pause/.test(name);

export type Settings = Record<string, string>;

/** A sample that runs, and what it has printed. */
export type Running = ReturnType<typeof watched>;

/** Writes the samples into `folder`. Returns how to run them, and the names of those that ran. */
export function samplesIn(folder: string) {
  for (const { name, code } of samples) if (name) writeFileSync(join(folder, name), code);
  const ran = new Set<string>();
  const children: ChildProcess[] = [];

  /** Starts a sample in `cwd`, with nothing in its environment but PATH and `settings`. */
  const start = (name: string, settings: Settings, cwd = folder): Running => {
    const sample = samples.find((one) => one.name === name);
    if (!sample) throw new Error(`No guide has a sample ${name}`);
    ran.add(name);
    const env = Object.entries({ PATH: process.env.PATH, ...settings }).map((pair) =>
      pair.join('='),
    );
    const child = spawn('env', ['-i', ...env, programs[sample.language], join(folder, name)], {
      cwd,
    });
    children.push(child);
    return watched(child);
  };

  const run = async (name: string, settings: Settings, cwd = folder) => {
    const running = start(name, settings, cwd);
    return { code: await running.ended, out: running.printed };
  };

  /** Sources a sample in a shell that has `settings`. Returns the shell's environment. */
  const source = (name: string, settings: Settings = {}): string[] => {
    ran.add(name);
    const env = { ...process.env, ...settings };
    const shell = spawnSync('bash', ['-c', '. "./$0" && env', name], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    return shell.stdout.split('\n');
  };

  const stopAll = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  return { start, run, source, ran, stopAll };
}

/** @throws Error when this machine has no Python 3 */
export function needPython(): void {
  if (spawnSync('python3', ['--version']).status !== 0)
    throw new Error("The guides' samples in Python need python3 on the PATH.");
}
