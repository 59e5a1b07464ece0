import { statementsOf } from '#test/support/node/migrations.ts';

// D1 takes a file apart into statements by itself when a deploy applies it. All tests apply migrations as they are cut at
// worst, so that one which is not written so fails in each of them.
const trigger = 'create trigger t after insert on a BEGIN delete from b; delete from c; END;';
it.each([
  ['has a trigger on one line', trigger, 1],
  ['has statements with Windows line ends', `create table a (id);\r\n${trigger}\r\n`, 2],
  ['is cut at a trigger in lowercase', trigger.toLowerCase(), 3],
  ['is cut at a trigger on several lines', trigger.replaceAll('; ', ';\n'), 3],
  ['is cut at a semicolon in a comment', 'create table a ( -- of all; and none\nid);', 2],
])('a migration %s', (_, sql, count) => expect(statementsOf(sql)).toHaveLength(count));
