// @module-tag proof
// More than 15 s: compiles and lints copies of the project.
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyOfProject, readJson, readText, root, runIn } from '#test/support/node/index.ts';
import { sourceFiles } from './source.ts';

/** Files that break rules, by their paths: the code, and what the check prints for each rule, in a line with the path. */
const broken: { [path: string]: [code: string, ...messages: string[]] } = {
  'src/core/fleet/fuel/service.ts': [
    `
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
    'Services do not know HTTP',
    `A feature's routes are its own`,
    'Only http/ knows status codes',
    'Reach account data through asCaller',
    'A global type has this name',
    'Do not use the global variable process',
    `Cannot find name 'node:fs'`,
    'imports src/cli/mixed.ts, from a room above its own',
    'imports src/core/webhooks/service.ts, from a room above its own',
    'imports src/extras/trends/job.ts, which is an extra',
    'both write the table tokens',
  ],
  'src/core/fleet/fuel/routes.ts': [
    `import { sql } from 'drizzle-orm'; export const all = sql;`,
    'Routes and pages know no tables and no SQL',
  ],
  'src/core/ingest/fuel.ts': [
    `
    import { sql } from 'drizzle-orm';
    export { openDatabase } from '../platform/db/system.ts';
    export const hidden = sql\`select 1\`;
    export { SQLiteRaw } from 'drizzle-orm/sqlite-core/query-builders/raw';`,
    'Reach account data through asCaller',
    `Only src/core/platform/db/drizzle.ts leans on Drizzle's inner files`,
    `Make it with Drizzle's builder, or by db.all(sql…) or db.run(sql…)`,
  ],
  'src/portal/fuel.tsx': [
    `
    import { events } from '../core/platform/db/schema/fleet.ts';
    import '../extras/trends/job.ts';
    export const all = events;`,
    'Routes and pages know no tables and no SQL',
    'imports src/extras/trends/job.ts, which is an extra. Let',
  ],
  'src/cli/mixed.ts': [
    `export { env } from 'cloudflare:workers'; import '../core/fleet/fuel/service.ts';`,
    `Cannot find module 'cloudflare:workers'`,
  ],
  'src/extras/external-ids/fuel.ts': [
    `
    import '../trends/job.ts';
    import '../../ui/layout.tsx';`,
    'imports src/extras/trends/job.ts, of another extra',
    'imports src/ui/layout.tsx. Only the pages of an extra do',
  ],
  'test/support/fuel.ts': [
    `import '#src/extras/trends/job.ts'; import '../growth.test.ts';`,
    `Tests import by '#src/' and '#test/'`,
    'imports src/extras/trends/job.ts, which is an extra. Pass',
  ],
  'src/core/platform/errors.ts': [
    `\nexport type { Caller } from './db/guard.ts';\n`,
    '  src/core/platform/errors.ts imports src/core/platform/db/guard.ts',
  ],
  'src/docs/fuel.md': [`# Fuel\n${'long '.repeat(25)}\n`, 'is longer than 120 characters'],
};

/** A copy of the project with that code and a list more, and what `npm run check` prints. */
let copy: string;
let printed: string;
beforeAll(async () => {
  copy = copyOfProject();
  const added = addList(copy);
  for (const [path, [code]] of Object.entries(broken)) {
    write(join(copy, path), code.replace(/^ +/gm, ''));
    added.push(path);
  }
  const runs = await Promise.all(checks(added).map((command) => runIn(copy, command)));
  expect(runs.filter(({ code }) => code === 0)).toEqual([]);
  printed = runs.map((run) => run.printed).join('\n');
});

const messages = Object.entries(broken).flatMap(([path, [, ...all]]) =>
  all.map((message) => [message, path]),
);
it.each(messages)('npm run check prints "%s" for %s', (message = '', path = '') => {
  const lines = printed.split('\n').filter((line) => line.includes(message));
  expect(lines, printed).toEqual(expect.arrayContaining([expect.stringContaining(path)]));
});

it('a list that is added as the guide says passes', () => {
  expect(printed.split('\n').filter((line) => /geofence/i.test(line))).toEqual([]);
});

it('a list that is added as the guide says is published by npm run contract', async () => {
  const { scripts } = readJson(copy, 'package.json');
  const { code, err } = await runIn(copy, scripts.contract);
  expect([code, err]).toEqual([0, '']);
  const { paths } = readJson(copy, 'src/docs/openapi/published/openapi.json');
  expect(paths).toHaveProperty('/geofences');
});

describe('the rules of the linter', () => {
  const { plugins } = readJson(root, 'biome.json');
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

it('a column that is renamed in its table alone does not compile', async () => {
  const copy = copyOfProject();
  const columns = { accounts: ['lastFour', 'tsp'], webhooks: ['normalisedUrl', 'httpVerb'] };
  for (const [subject, names] of Object.entries(columns)) {
    const path = join(copy, `src/core/platform/db/schema/${subject}.ts`);
    const renamed = readText(path).replaceAll(
      new RegExp(`^( +)(${names.join('|')}): `, 'gm'),
      '$1$2Renamed: ',
    );
    writeFileSync(path, renamed);
  }
  const { out } = await runIn(copy, 'tsc -p src --incremental false');
  for (const name of Object.values(columns).flat())
    expect(out).toMatch(new RegExp(`'${name}'[^\n]* does not exist`));
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

it('every file belongs to a TypeScript project', async () => {
  const projects = ['src', 'src/cli', 'test'].map((one) =>
    runIn(root, `tsc -p ${one} --listFilesOnly`),
  );
  const checked = (await Promise.all(projects)).flatMap(({ out }) => out.split('\n'));
  const orphans = sourceFiles(root).filter(({ path }) => !checked.includes(join(root, path)));
  // `npm run client` compiles it, with what it generates for it.
  expect(orphans.map(({ path }) => path)).toEqual(['src/cli/client/index.ts']);
});

/** The commands of `npm run check` but the first, which generates types; for these files alone. */
function checks(files: string[]): string[] {
  const { scripts } = readJson(root, 'package.json');
  const [, ...commands] = scripts.check.split(' && ');
  return commands.map((command: string) =>
    command.startsWith('biome')
      ? `${command} --formatter-enabled=false --max-diagnostics=none --reporter=concise ${files.join(' ')}`
      : command,
  );
}

/** Writes the files that the guide on lists shows, and registers the list. Returns which files of code. */
function addList(copy: string): string[] {
  const guide = readText(copy, 'src/docs/contributing/adding-a-list.md');
  const shown = [...guide.matchAll(/^\*\*(\S+):\*\*\n\n```\w+\n(.*?)```/gms)];
  for (const [, path = '', code = ''] of shown) write(join(copy, path), code);
  const registry = 'src/core/fleet/lists/registry.ts';
  const text = readText(copy, registry);
  const registered = text.replace('] as const', ', geofences] as const');
  writeFileSync(join(copy, registry), `import { geofences } from './geofences.ts';\n${registered}`);
  return [registry, ...shown.map(([, path = '']) => path).filter((path) => /\.tsx?$/.test(path))];
}

function write(path: string, code: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, code, { flag: 'a' });
}
