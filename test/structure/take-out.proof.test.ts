// @module-tag proof
// More than 15 s: the compiler checks the Worker and the programs anew, of each copy, which is started and called.
import { globSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { copyOfProject, readJson, readText, root, runIn } from '#test/support/node/index.ts';
import { coreTests, extraNames, mainJob, takeOut } from '#test/support/node/take-out.ts';

const mostLines = 10;

it('all extras are taken out by deleting their folders, migrations and guides, and at most ten lines elsewhere for each', async () => {
  const copy = copyOfProject();
  for (const name of extraNames()) expect(takeOut(copy, name), name).toBeLessThanOrEqual(mostLines);
  await expectWhole(copy);
});

it.each(extraNames())('%s can be taken out, with those that need it', async (name) => {
  const copy = copyOfProject();
  for (const one of withNeeding(name))
    expect(takeOut(copy, one), one).toBeLessThanOrEqual(mostLines);
  await expectWhole(copy);
});

/** An extra, behind those that need it. */
function withNeeding(name: string): string[] {
  const needing = globSync('src/extras/*/extra.ts', { cwd: root }).filter((path) => {
    const [, needed = ''] = /^\/\/ Needs: (.*)/.exec(readText(root, path)) ?? [];
    return needed.split(', ').includes(name);
  });
  const names = needing.map((path) => basename(dirname(path)));
  return [...new Set([...names.flatMap(withNeeding), name])];
}

/** Expects right types, documents, commands and the main job, at full size the core's tests, and that no table or SQL names one that is gone. */
async function expectWhole(copy: string): Promise<void> {
  const commands = [
    'tsc -p src --incremental false',
    'tsc -p src/cli/take-out.json --incremental false',
    'node src/docs/openapi/print.ts > /dev/null',
    'node src/cli/fleet.ts --help > /dev/null',
  ];
  const tests = process.env.FULL_PROOF ? [mainJob, coreTests] : [mainJob];
  const project = readJson(copy, 'src/cli/tsconfig.json');
  const include = project.include.filter((path: string) => !path.startsWith('../../test/'));
  writeFileSync(join(copy, 'src/cli/take-out.json'), JSON.stringify({ ...project, include }));
  for (const { printed } of await Promise.all(commands.map((command) => runIn(copy, command))))
    expect(printed).toBe('');
  expect(brokenTables(copy)).toEqual([]);
  expect(goneTables(copy)).toEqual([]);
  for (const test of tests) {
    const { code, printed } = await runIn(copy, test);
    expect(code, printed).toBe(0);
  }
}

/** The tables that the migrations that are left make, and that cannot be changed: a trigger needs what is gone. */
function brokenTables(copy: string): string[] {
  const db = new DatabaseSync(':memory:');
  for (const name of globSync('migrations/*.sql', { cwd: copy }).sort())
    db.exec(readText(copy, name));
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
    [...readText(folder, name).matchAll(/^create (?:virtual )?table (\w+)/gm)].map(
      ([, table = '']) => table,
    ),
  );

/** What is left that names a table which is gone, in raw SQL. */
function goneTables(copy: string): string[] {
  const gone = tablesIn(root).filter((table) => !tablesIn(copy).includes(table));
  if (gone.length === 0) return [];
  const names = new RegExp(`\\b(?:from|join|into|update) (?:${gone.join('|')})\\b[^'.]`);
  return globSync('src/**/*.{ts,tsx}', { cwd: copy }).flatMap((file) =>
    readText(copy, file)
      .split('\n')
      .filter((line) => names.test(line) && !/^\s*(?:\/\/|\/?\*|import)/.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
}
