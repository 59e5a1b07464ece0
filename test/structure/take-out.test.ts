// The compiler checks the Worker and the programs anew.
import { spawn } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { watched } from '#test/support/node/child.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';

const root = resolve(import.meta.dirname, '../..');

/** Extras that nothing of the portal names, those first that need others of them. */
const out = [
  'why',
  'replicas',
  'cells',
  'exports',
  'connector-problems',
  'dry-runs',
  'external-ids',
  'summaries',
  'trends',
  'single-sign-on',
  'changes',
  'providers',
];

const mostLines = 10;

it('an extra is taken out by deleting its folder, migration and guide, and at most ten lines elsewhere', async () => {
  const copy = temporaryFolder();
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  for (const part of ['src', 'migrations', 'package.json', 'tsconfig.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const name of out) expect(takeOut(copy, name), name).toBeLessThanOrEqual(mostLines);

  const commands = [
    'node_modules/.bin/tsc -p src --incremental false',
    'node_modules/.bin/tsc -p src/cli/take-out.json --incremental false',
    'node src/docs/openapi/print.ts > /dev/null',
    'node src/cli/fleet.ts --help > /dev/null',
  ];
  const project = JSON.parse(readFileSync(join(copy, 'src/cli/tsconfig.json'), 'utf8'));
  const include = project.include.filter((path: string) => !path.startsWith('../../test/'));
  writeFileSync(join(copy, 'src/cli/take-out.json'), JSON.stringify({ ...project, include }));
  const running = commands.map((command) => watched(spawn(command, { cwd: copy, shell: true })));
  for (const one of running) {
    await one.ended;
    expect(one.printed).toBe('');
  }
  expect(brokenTables(copy)).toEqual([]);
  expect(goneTables(copy)).toEqual([]);
}, 600_000);

/** Deletes an extra, and the lines elsewhere that import from it or list what they import. Returns how many those are. */
function takeOut(copy: string, name: string): number {
  rmSync(join(copy, 'src/extras', name), { recursive: true });
  for (const path of globSync(`migrations/*_${name.replaceAll('-', '_')}.sql`, { cwd: copy }))
    rmSync(join(copy, path));
  const guides = globSync(`src/docs/guides/**/${name}.md`, { cwd: copy });
  for (const path of guides) rmSync(join(copy, path));
  const names = new RegExp(`(?:extras|'\\.)/${name}/`);
  return globSync('src/**/*.{ts,tsx}', { cwd: copy }).reduce((count, file) => {
    const path = join(copy, file);
    const lines = readFileSync(path, 'utf8').split('\n');
    const imported = lines.filter((line) => names.test(line)).flatMap(namesIn);
    const listed = [...imported, `extras.${camelCase(name)}.operations`];
    const isGone = (line: string) =>
      names.test(line) || listed.some((one) => [`${one},`, `...${one},`].includes(line.trim()));
    const left = lines
      .filter((line) => !isGone(line))
      .map((line) => (/guides\.ts$/.test(file) ? withoutGuides(line, guides) : line));
    const changed = lines.length - left.filter((line) => lines.includes(line)).length;
    if (changed > 0) writeFileSync(path, left.join('\n'));
    return count + changed;
  }, 0);
}

/** What a line imports, by the names that it has there. */
const namesIn = (line: string): string[] =>
  (/^import (?:type )?\{ (.*) \} from/.exec(line)?.[1] ?? '')
    .split(', ')
    .map((one) => one.replace(/^(?:type )?(?:\w+ as )?/, ''))
    .filter(Boolean);

const camelCase = (name: string): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

const withoutGuides = (line: string, guides: string[]): string =>
  guides.reduce((text, path) => text.replace(`'${basename(path, '.md')}', `, ''), line);

/** The tables that the migrations that are left make, and that cannot be changed: a trigger needs what is gone. */
function brokenTables(copy: string): string[] {
  const db = new DatabaseSync(':memory:');
  for (const name of globSync('migrations/*.sql', { cwd: copy }).sort())
    db.exec(readFileSync(join(copy, name), 'utf8'));
  const tables = db.prepare(`
    select m.name, min(c.name) as one
    from sqlite_master m join pragma_table_info(m.name) c
    where m.type = 'table' and m.name not glob 'sqlite_*'
    group by m.name`);
  return tables.all().flatMap(({ name, one }) => {
    const changes = [
      `insert into ${name} default values`,
      `update ${name} set ${one} = ${one}`,
      `delete from ${name}`,
    ];
    try {
      for (const change of changes) db.prepare(`explain ${change}`);
      return [];
    } catch (error) {
      return [`${name}: ${error}`];
    }
  });
}

const tablesIn = (folder: string): string[] =>
  globSync('migrations/*.sql', { cwd: folder }).flatMap((name) =>
    [
      ...readFileSync(join(folder, name), 'utf8').matchAll(/^create (?:virtual )?table (\w+)/gm),
    ].map(([, table = '']) => table),
  );

/** What is left that names a table which is gone, in raw SQL. */
function goneTables(copy: string): string[] {
  const gone = tablesIn(root).filter((table) => !tablesIn(copy).includes(table));
  const names = new RegExp(`\\b(?:from|join|into|update) (?:${gone.join('|')})\\b[^'.]`);
  return globSync('src/**/*.{ts,tsx}', { cwd: copy }).flatMap((file) =>
    readFileSync(join(copy, file), 'utf8')
      .split('\n')
      .filter((line) => names.test(line) && !/^\s*(?:\/\/|\/?\*|import)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}
