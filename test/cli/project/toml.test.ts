import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readToml, withOwnNamespaces } from '#src/cli/project/toml.ts';
import { wranglerOutput } from '#src/cli/project/wrangler.ts';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import { temporaryFolder } from '#test/support/node/folder.ts';

it('wrangler.toml sets the limits that the code and the guides speak of', () => {
  const inCode = Object.entries(rateLimits).map(([name, { calls, seconds }]) => [
    name,
    calls,
    seconds,
  ]);
  const declared = readToml().ratelimits.map(({ name, simple }) => [
    name,
    simple.limit,
    simple.period,
  ]);
  expect(declared.sort()).toEqual(inCode.sort());
});

it('functions keep their names in the uploaded Worker, so that stacks of its log can be read', async () => {
  const folder = temporaryFolder();
  await wranglerOutput('deploy', '--dry-run', '--outdir', folder);
  const bundle = readFileSync(join(folder, 'index.js'), 'utf8');
  expect(bundle).toMatch(/\(\w+,\s?"createSignInLinks"\)/);
});

const limiters = ['SIGN_IN_LIMIT', 'TOKEN_LIMIT', 'UNKNOWN_LIMIT'].map((name) => ({
  name,
  namespace_id: '1001',
}));
const idsOf = (worker: string) =>
  withOwnNamespaces(worker, limiters).map(({ namespace_id }) => namespace_id);
const workerName = fc.stringMatching(/^[a-z][a-z0-9-]{0,27}$/);

it('two Workers of an account share no rate limit counters, whatever their names', () => {
  const both = fc.uniqueArray(workerName, { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(both, (names) => new Set(names.flatMap(idsOf)).size === 2 * limiters.length),
  );
});
