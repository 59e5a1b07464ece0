import { importFile } from '#src/cli/deploy/import.ts';
import type { Wrangler } from '#src/cli/project/cloudflare.ts';

const failing = (text: string) => ({ ok: false, out: '', text: `[ERROR] ${text}` });
const unstable = failing('Upstream service unavailable [code: 7009]');
const timedOut = failing('A request to the Cloudflare API failed: 504 Gateway Timeout');
const done = { ok: true, out: '', text: '' };
const broken = failing('no such table: x [code: 7500]');

it.each([
  ['an import that D1 could not begin is repeated', [unstable, timedOut, done], false, 3, null],
  ['one that succeeded although its reply was lost is not', [timedOut], true, 1, null],
  ['one that is wrong is not', [broken], false, 1, 'no such table'],
  [
    'one that never succeeds is given up',
    Array(9).fill(unstable),
    false,
    4,
    'Upstream service unavailable',
  ],
] as const)('%s', async (_, replies, isImported, calls, problem) => {
  const left = [...replies];
  const wrangler = vi.fn<Wrangler>(async () => left.shift() ?? done);
  const target = { database: 'fleet', config: 'wrangler.json', file: 'x.sql' };
  const importing = importFile('Importing', wrangler, target, async () => isImported, 0);
  if (problem) await expect(importing).rejects.toThrow(problem);
  else await importing;
  expect(wrangler).toHaveBeenCalledTimes(calls);
});
