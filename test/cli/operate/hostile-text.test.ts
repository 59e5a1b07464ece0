import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fakeService, temporaryFolder } from '#test/support/node/index.ts';

/** A name that would clear the screen, reorder what is shown, and forge a row. */
const hostile = 'Acme Żółw 東京\u0000\u001b[2J\u009b31m\u202egpj.exe\u2066\u2028\r\n│ forged │';
/** Everything but line feeds, which separate the tool's own lines. */
const dangerous = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|^│ forged/u;

const thing = {
  ...Object.fromEntries(
    ['id', 'name', 'status', 'url', 'count', 'tooOld'].map((name) => [name, hostile]),
  ),
  log: [{ at: hostile, result: hostile, status: hostile, durationMs: hostile, answer: hostile }],
  deletion: { id: hostile, kind: hostile, accountId: hostile, step: hostile },
  [hostile]: hostile,
};

/** A service that says nothing but hostile text, in whatever it is asked. */
const { fleet, start } = await fakeService(({ method, url: { pathname: path } }) => {
  const isList = method === 'GET' && /(accounts|deliveries)$/.test(path);
  const rejected = [{ index: 0, sourceId: hostile, message: hostile }];
  const data = path === '/ingest' ? { accepted: 0, unchanged: 0, rejected } : thing;
  return {
    status: path.includes('refused') ? 400 : 200,
    message: hostile,
    data: isList ? [thing] : { ...data, value: 'key' }, // the key goes into a header
  };
});
const folder = temporaryFolder();
const file = join(folder, 'records.ndjson');
writeFileSync(file, '{"kind":"driver"}\n');

it.each([
  'account list',
  '--json account list',
  'account suspend refused',
  'delivery show x',
  'delivery replay --webhook x --dry-run',
  'account delete x --yes y',
  `import ${file} --connection x`,
])('no terminal obeys what is printed by fleet %s', async (command) => {
  const { out, err } = await fleet(command);
  expect(out + err).toContain('Acme Żółw 東京\\u0000');
  expect((out + err).split('\n').filter((line) => dangerous.test(line))).toEqual([]);
});

it('no terminal obeys what is printed by fleet delivery list --follow', async () => {
  const tool = start('delivery list --webhook x --follow');
  await expect.poll(() => tool.printed, { timeout: 30_000 }).toContain('Acme');
  tool.child.kill();
  await tool.ended;
  const lines = tool.printed.trimEnd().split('\n');
  expect(lines.filter((line) => dangerous.test(line))).toEqual([]);
});
