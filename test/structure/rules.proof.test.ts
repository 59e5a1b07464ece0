// More than 15 s: compiles and lints copies of the project.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { watched } from '#test/support/node/child.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';
import { sourceFiles } from './source.ts';

const root = resolve(import.meta.dirname, '../..');

const broken = {
  'src/core/fleet/fuel/service.ts': `
    import type { Context } from 'hono';
    import { createWebhook } from '../../webhooks/service.ts';
    import { fleetRoutes } from '../../fleet/routes.ts';
    import '../../../cli/mixed.ts';
    import '../../../extras/trends/job.ts';
    export { readFileSync } from 'node:fs';
    export type Range = [Context, typeof createWebhook, typeof fleetRoutes];
    export const none = (missing: boolean) => Response.json({}, { status: missing ? 404 : 200 });
    export const write = (env: Env) => env.DB.prepare('delete from tokens');
    export const level = process.env.LOG_LEVEL;`,
  'src/core/fleet/fuel/routes.ts': `import { sql } from 'drizzle-orm'; export const all = sql;`,
  'src/core/ingest/fuel.ts': `
    import { sql } from 'drizzle-orm';
    export { openDatabase } from '#test/platform/db/system.ts';
    export const hidden = sql\`select 1\`;
    export { SQLiteRaw } from 'drizzle-orm/sqlite-core/query-builders/raw';`,
  'src/portal/fuel.tsx': `
    import { events } from '#test/core/platform/db/schema/fleet.ts';
    import '#test/extras/trends/job.ts';
    export const all = events;`,
  'src/cli/mixed.ts': `export { env } from 'cloudflare:workers'; import '#test/core/fleet/fuel/service.ts';`,
  'src/extras/external-ids/fuel.ts': `
    import '#test/trends/job.ts';
    import '../../ui/layout.tsx';`,
  'src/core/platform/errors.ts': `\nexport type { Caller } from './db/guard.ts';\n`,
  'src/docs/fuel.md': `# Fuel\n${'long '.repeat(25)}\n`,
};

/** What the check prints for each rule that they break, in one line with the path of a file. */
const messages: [message: string, path: keyof typeof broken][] = [
  ['Routes and pages know no tables and no SQL', 'src/core/fleet/fuel/routes.ts'],
  ['Routes and pages know no tables and no SQL', 'src/portal/fuel.tsx'],
  ['Services do not know HTTP', 'src/core/fleet/fuel/service.ts'],
  [`A feature's routes are its own`, 'src/core/fleet/fuel/service.ts'],
  ['Only http/ knows status codes', 'src/core/fleet/fuel/service.ts'],
  ['Reach account data through asCaller', 'src/core/fleet/fuel/service.ts'],
  ['Reach account data through asCaller', 'src/core/ingest/fuel.ts'],
  [
    `Only src/core/platform/db/drizzle.ts leans on Drizzle's inner files`,
    'src/core/ingest/fuel.ts',
  ],
  [`Make it with Drizzle's builder, or by db.all(sql…) or db.run(sql…)`, 'src/core/ingest/fuel.ts'],
  ['A global type has this name', 'src/core/fleet/fuel/service.ts'],
  ['Do not use the global variable process', 'src/core/fleet/fuel/service.ts'],
  [`Cannot find name 'node:fs'`, 'src/core/fleet/fuel/service.ts'],
  [`Cannot find module 'cloudflare:workers'`, 'src/cli/mixed.ts'],
  ['imports src/cli/mixed.ts, from a room above its own', 'src/core/fleet/fuel/service.ts'],
  [
    '  src/core/platform/errors.ts imports src/core/platform/db/guard.ts',
    'src/core/platform/errors.ts',
  ],
  [
    'imports src/core/webhooks/service.ts, from a room above its own',
    'src/core/fleet/fuel/service.ts',
  ],
  ['imports src/extras/trends/job.ts, which is an extra', 'src/core/fleet/fuel/service.ts'],
  ['imports src/extras/trends/job.ts, of another extra', 'src/extras/external-ids/fuel.ts'],
  ['imports src/ui/layout.tsx. Only the pages of an extra do', 'src/extras/external-ids/fuel.ts'],
  ['imports src/extras/trends/job.ts, which is an extra. Let', 'src/portal/fuel.tsx'],
  ['both write the table tokens', 'src/core/fleet/fuel/service.ts'],
  ['is longer than 120 characters', 'src/docs/fuel.md'],
];

/** A copy of the project with that code and a list more, and what `npm run check` prints. */
let copy: string;
let printed: string;
beforeAll(async () => {
  copy = copyOfProject();
  const added = addList(copy);
  for (const [path, code] of Object.entries(broken)) {
    write(join(copy, path), code.replace(/^ +/gm, ''));
    added.push(path);
  }
  limitProjects(copy, added);
  printed = (await Promise.all(checks(added).map((command) => output(command, copy)))).join('\n');
  return () => rmSync(copy, { recursive: true, force: true });
});

it.each(messages)('npm run check prints "%s" for %s', (message, path) => {
  const lines = printed.split('\n').filter((line) => line.includes(message));
  expect(lines, printed).toEqual(expect.arrayContaining([expect.stringContaining(path)]));
});

it('a list that is added as the guide says passes', () => {
  expect(printed.split('\n').filter((line) => /geofence/i.test(line))).toEqual([]);
});

it('a list that is added as the guide says is published by npm run contract', () => {
  const { scripts } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
  const { status, stderr } = spawnSync(scripts.contract, {
    cwd: copy,
    shell: true,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  const { paths } = JSON.parse(
    readFileSync(join(copy, 'src/docs/openapi/published/openapi.json'), 'utf8'),
  );
  expect(paths).toHaveProperty('/geofences');
});

describe('the rules of the linter', () => {
  const { plugins } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'));
  const includesOf = ({ includes }: { includes: string[] }) =>
    includes.map((path) => path.replace(/^!/, ''));

  it('name only what exists', () => {
    const gone = plugins
      .flatMap(includesOf)
      .filter((path: string) => globSync(path, { cwd: root }).length === 0);
    expect(gone).toEqual([]);
  });

  it('leave no single file unguarded, but folders', () => {
    const guard = plugins.find(({ path }: { path: string }) =>
      path.endsWith('no-unguarded-database.grit'),
    );
    expect(includesOf(guard).filter((path) => !path.endsWith('/**'))).toEqual([]);
  });
});

it('a column that is renamed in its table alone does not compile', () => {
  const copy = copyOfProject();
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  const columns = { accounts: ['lastFour', 'tsp'], webhooks: ['normalisedUrl', 'httpVerb'] };
  for (const [subject, names] of Object.entries(columns)) {
    const path = join(copy, `src/core/platform/db/schema/${subject}.ts`);
    const renamed = readFileSync(path, 'utf8').replaceAll(
      new RegExp(`^( +)(${names.join('|')}): `, 'gm'),
      '$1$2Renamed: ',
    );
    writeFileSync(path, renamed);
  }
  const { stdout } = spawnSync('node_modules/.bin/tsc', ['-p', 'src', '--incremental', 'false'], {
    cwd: copy,
    encoding: 'utf8',
  });
  for (const name of Object.values(columns).flat())
    expect(stdout).toMatch(new RegExp(`'${name}'[^\n]* does not exist`));
});

it('raw statements are few', () => {
  const raw = sourceFiles(root)
    .filter(({ path }) => /^src\/(?!cli|dev)/.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\.(?:all|run)(?:<[^`;]*?>)?\(\s*sql[<`]/g)].map(() => path),
    );
  expect(raw.length).toBeLessThanOrEqual(95);
  expect(raw).toContain('src/core/platform/db/guard.ts');
});

it('every file belongs to a TypeScript project', () => {
  const checked = ['src', 'src/cli', 'test'].flatMap((project) =>
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', project, '--listFilesOnly'], {
      cwd: root,
      encoding: 'utf8',
    }).split('\n'),
  );
  const orphans = sourceFiles(root).filter(({ path }) => !checked.includes(join(root, path)));
  // `npm run client` compiles it, with what it generates for it.
  expect(orphans.map(({ path }) => path)).toEqual(['src/cli/client/index.ts']);
});

/** The commands of `npm run check` but the first, which generates types; for these files alone. */
function checks(files: string[]): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [, ...commands] = scripts.check.split(' && ');
  return commands.map((command: string) =>
    command.startsWith('biome')
      ? `${command} --formatter-enabled=false --max-diagnostics=none --reporter=concise ${files.join(' ')}`
      : command,
  );
}

function copyOfProject(): string {
  const copy = temporaryFolder();
  const parts = 'src test migrations biome.json package.json tsconfig.json .gitignore';
  for (const part of parts.split(' '))
    cpSync(join(root, part), join(copy, part), { recursive: true });
  // Packages are linked one by one: the compiler's cache in `node_modules` is this copy's own.
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(root, 'node_modules')).filter((name) => name !== '.cache'))
    symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name));
  return copy;
}

/** Has the compiler check these files alone: the others were checked where they come from. */
function limitProjects(copy: string, files: string[]): void {
  for (const project of ['src', 'src/cli', 'test']) {
    const path = join(copy, project, 'tsconfig.json');
    const include = files
      .filter((file) => projectOf(file) === project)
      .map((file) => join(copy, file));
    const whole = JSON.parse(readFileSync(path, 'utf8'));
    include.push(join(copy, 'src/core/platform/env.d.ts'));
    writeFileSync(path, JSON.stringify({ ...whole, include }));
  }
}

const projectOf = (path: string): string =>
  ['src/cli', 'src'].find((project) => path.startsWith(`${project}/`)) ?? 'test';

/** Writes the files that the guide on lists shows, and registers the list. Returns which files of code. */
function addList(copy: string): string[] {
  const guide = readFileSync(join(copy, 'src/docs/contributing/adding-a-list.md'), 'utf8');
  const shown = [...guide.matchAll(/^\*\*(\S+):\*\*\n\n```\w+\n(.*?)```/gms)];
  for (const [, path = '', code = ''] of shown) write(join(copy, path), code);
  const registry = 'src/core/fleet/lists/registry.ts';
  const text = readFileSync(join(copy, registry), 'utf8');
  const registered = text.replace('] as const', ', geofences] as const');
  writeFileSync(join(copy, registry), `import { geofences } from './geofences.ts';\n${registered}`);
  return [registry, ...shown.map(([, path = '']) => path).filter((path) => /\.tsx?$/.test(path))];
}

function write(path: string, code: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code, { flag: 'a' });
}

/** What a command of `npm run check` prints, which is expected to fail. */
async function output(command: string, cwd: string): Promise<string> {
  const PATH = `${join(cwd, 'node_modules/.bin')}:${process.env.PATH}`;
  const env = { ...process.env, PATH, NO_COLOR: '1' };
  const running = watched(spawn(command, { cwd, shell: true, env }));
  if ((await running.ended) === 0) throw new Error(`${command} passes`);
  return running.printed;
}
