import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../src/cli/project/paths.ts';
import { recordKinds } from '../../src/fleet/lists/registry.ts';
import { statementsOf } from '../support/node/migrations.ts';

// D1 takes a file apart into statements by itself when a deploy applies it. It cuts a trigger in two unless it is
// written so.

const lines = readdirSync(join(root, 'migrations')).flatMap((name) =>
  readFileSync(join(root, 'migrations', name), 'utf8')
    .split('\n')
    .map((text, index) => ({ at: `${name}:${index + 1}`, text })),
);
const found = (pattern: RegExp) =>
  lines.filter(({ text }) => pattern.test(text)).map(({ at, text }) => `${at} ${text.slice(0, 60)}`);

it('a trigger stands on one line, with BEGIN and END in capitals and no CASE', () => {
  const triggers = lines.filter(({ text }) => /create\s+trigger/i.test(text));
  expect(triggers.length).toBeGreaterThan(0);
  for (const { at, text } of triggers)
    expect(text.replace(/'[^']*'/g, ''), at).toMatch(
      /^create trigger (?!.*\b(?:case|begin|end)\b).* BEGIN .*; END;$/,
    );
  expect(found(/^(?!create trigger ).*\bBEGIN\b/i).filter((line) => !line.includes('--'))).toEqual([]);
});

it('the diagram of the tables has each of them once, except those of lists of records', () => {
  const text = readFileSync(join(root, 'src/docs/contributing/architecture.md'), 'utf8');
  const [, diagram = ''] = /## Tables.*?```text\n(.*?)```/s.exec(text) ?? [];
  const drawn = diagram.replace(/ {4}.*| ──.*/g, '');
  const tables = lines.flatMap(({ text }) => /^create table (\w+)/.exec(text)?.slice(1) ?? []);
  const ofRecords = recordKinds.map(({ list }) => list.path.slice(1).replaceAll('-', '_'));
  expect(tables).toEqual(expect.arrayContaining(ofRecords));
  for (const table of tables.filter((table) => !ofRecords.includes(table)))
    expect(drawn.match(new RegExp(`\\b${table}\\b`, 'g')) ?? [], table).toHaveLength(1);
});

it('no comment holds a semicolon', () => {
  expect(found(/--.*;/)).toEqual([]);
});

describe('the splitter of the tests', () => {
  const trigger = 'create trigger t after insert on a BEGIN delete from b; delete from c; END;';
  it.each([
    ['a trigger on one line', trigger, 1],
    ['statements with Windows line ends', `create table a (id);\r\n${trigger}\r\n`, 2],
    ['cuts one in lowercase', trigger.toLowerCase(), 3],
    ['cuts one on several lines', trigger.replaceAll('; ', ';\n'), 3],
    ['cuts one with a CASE', trigger.replace('from b', 'from b where case id when 1 then 2 END'), 3],
    ['cuts a comment', 'create table a ( -- of all; and none\nid);', 2],
  ])('%s', (_, sql, count) => expect(statementsOf(sql)).toHaveLength(count));
});
