import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../src/cli/project/paths.ts';
import { runWrangler } from '../../src/cli/project/wrangler.ts';
import { temporaryFolder } from '../support/node/folder.ts';

it('a stack of the log, of the bundled Worker, leads to the places in the source', async () => {
  const folder = temporaryFolder();
  await runWrangler(['deploy', '--dry-run', '--outdir', folder]);
  const before = readFileSync(join(folder, 'index.js'), 'utf8').split('attempts omitted')[0] ?? '';
  const place = `${before.split('\n').length}:${before.length - before.lastIndexOf('\n')}`;
  const stack = `at a (index.js:${place})\nat async b (index.js:9999:1)`;
  const program = join(root, 'src/cli/stack.ts');
  const input = JSON.stringify({ kind: 'fault', stack });
  const shown = execFileSync(process.execPath, [program], { input, encoding: 'utf8' });
  const source = readFileSync(join(root, 'src/platform/log.ts'), 'utf8').split('\n');
  const at = Number(/at a \(src\/platform\/log\.ts:(\d+):\d+\)\n/.exec(shown)?.[1]);
  expect(source[at - 1]).toContain("'attempts omitted'");
  expect(shown).toContain('{"kind":"fault","stack":"');
});
