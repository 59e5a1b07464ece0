import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withOwnNamespaces } from '../../../src/cli/deploy/plan.ts';
import { root } from '../../../src/cli/project/paths.ts';
import { rateLimits } from '../../../src/platform/rate-limits.ts';

const declared = readFileSync(join(root, 'wrangler.toml'), 'utf8')
  .split('[[ratelimits]]')
  .slice(1)
  .map((text) => ({
    name: /^name = "(.+)"$/m.exec(text)?.[1] ?? '',
    limit: Number(/limit = (\d+)/.exec(text)?.[1]),
    period: Number(/period = (\d+)/.exec(text)?.[1]),
  }));

it('wrangler.toml sets the limits that the code and the guides speak of', () => {
  const inCode = Object.entries(rateLimits).map(([name, { calls, seconds }]) => [name, calls, seconds]);
  expect(declared.map(({ name, limit, period }) => [name, limit, period]).sort()).toEqual(inCode.sort());
});

const limiters = ['SIGN_IN_LIMIT', 'TOKEN_LIMIT', 'UNKNOWN_LIMIT'].map((name) => ({
  name,
  namespace_id: '1001',
}));
const idsOf = (worker: string) => withOwnNamespaces(worker, limiters).map(({ namespace_id }) => namespace_id);
const workerName = fc.stringMatching(/^[a-z][a-z0-9-]{0,27}$/);

it('two Workers of an account share no rate limit counters, whatever their names', () => {
  const both = fc.uniqueArray(workerName, { minLength: 2, maxLength: 2 });
  fc.assert(fc.property(both, (names) => new Set(names.flatMap(idsOf)).size === 2 * limiters.length));
});
