import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '#src/cli/project/paths.ts';
import { recordKinds } from '#src/core/fleet/lists/registry.ts';
import { statementsOf, strictMigrations } from '#test/support/node/migrations.ts';

it('the diagram of the tables has each of them once, except those of lists of records', () => {
  const text = readFileSync(join(root, 'src/docs/contributing/architecture.md'), 'utf8');
  const [, diagram = ''] = /## Tables.*?```text\n(.*?)```/s.exec(text) ?? [];
  const drawn = diagram.replace(/ {4}.*| ──.*/g, '');
  const statements = strictMigrations().flatMap(({ queries }) => queries);
  const tables = statements.flatMap((sql) => /^create table (\w+)/m.exec(sql)?.slice(1) ?? []);
  const ofRecords = recordKinds.map(({ list }) => list.path.slice(1).replaceAll('-', '_'));
  expect(tables).toEqual(expect.arrayContaining(ofRecords));
  for (const table of tables.filter((table) => !ofRecords.includes(table)))
    expect(drawn.match(new RegExp(`\\b${table}\\b`, 'g')) ?? [], table).toHaveLength(1);
});

// D1 takes a file apart into statements by itself when a deploy applies it. All tests apply migrations as they are cut at
// worst, so that one which is not written so fails in each of them.
const trigger = 'create trigger t after insert on a BEGIN delete from b; delete from c; END;';
it.each([
  ['has a trigger on one line', trigger, 1],
  ['has statements with Windows line ends', `create table a (id);\r\n${trigger}\r\n`, 2],
  ['is cut at a trigger in lowercase', trigger.toLowerCase(), 3],
  ['is cut at a trigger on several lines', trigger.replaceAll('; ', ';\n'), 3],
  [
    'is cut at a trigger with a CASE',
    trigger.replace('from b', 'from b where case id when 1 then 2 END'),
    3,
  ],
  ['is cut at a semicolon in a comment', 'create table a ( -- of all; and none\nid);', 2],
])('a migration %s', (_, sql, count) => expect(statementsOf(sql)).toHaveLength(count));
