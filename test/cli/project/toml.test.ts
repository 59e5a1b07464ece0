import fc from 'fast-check';
import { readToml, withOwnNamespaces } from '#src/cli/project/toml.ts';
import { wranglerOutput } from '#src/cli/project/wrangler.ts';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import { readText, temporaryFolder } from '#test/support/node/index.ts';

it('wrangler.toml sets the limits that the code and the guides speak of', () => {
  const declared = readToml().ratelimits.map(({ name, simple }) => [
    name,
    { calls: simple.limit, seconds: simple.period },
  ]);
  expect(Object.fromEntries(declared)).toEqual(rateLimits);
});

it('functions keep their names in the uploaded Worker, so that stacks of its log can be read', {
  tags: ['proof'],
}, async () => {
  const folder = temporaryFolder();
  await wranglerOutput('deploy', '--dry-run', '--outdir', folder);
  const bundle = readText(folder, 'index.js');
  expect(bundle).toMatch(/\(\w+,\s?"createSignInLinks"\)/);
});

it('two Workers of an account share no rate limit counters, whatever their names', () => {
  const limiters = ['SIGN_IN_LIMIT', 'TOKEN_LIMIT'].map((name) => ({ name, namespace_id: '1' }));
  const idsOf = (worker: string) =>
    withOwnNamespaces(worker, limiters).map(({ namespace_id }) => namespace_id);
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,27}$/);
  const both = fc.uniqueArray(name, { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(both, (names) => new Set(names.flatMap(idsOf)).size === 2 * limiters.length),
  );
});
