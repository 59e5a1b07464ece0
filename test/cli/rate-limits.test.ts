import fc from 'fast-check';
import { expect, it } from 'vitest';
import { withOwnNamespaces } from '../../src/cli/deploy/rate-limits.ts';

const limiters = ['SIGN_IN_LIMIT', 'TOKEN_LIMIT', 'UNKNOWN_LIMIT'].map((name) => ({
  name,
  namespace_id: '1001',
}));
const idsOf = (worker: string) => withOwnNamespaces(worker, limiters).map(({ namespace_id }) => namespace_id);
const workerName = fc.stringMatching(/^[a-z][a-z0-9-]{0,29}$/);

it('two Workers of an account share no rate limit counters, whatever their names', () => {
  const both = fc.uniqueArray(workerName, { minLength: 2, maxLength: 2 });
  fc.assert(fc.property(both, (names) => new Set(names.flatMap(idsOf)).size === 2 * limiters.length));
});

it('a Worker finds its own counters again with each deploy', () => {
  fc.assert(
    fc.property(workerName, (name) => {
      expect(idsOf(name)).toEqual(idsOf(name));
    }),
  );
  expect(idsOf('fleet-data-service')).toMatchInlineSnapshot(`
    [
      "1416805798",
      "735234261",
      "1813360913",
    ]
  `);
});

it('an id is a positive integer of 32 bits, as Cloudflare requires', () => {
  fc.assert(
    fc.property(workerName, (name) => {
      for (const id of idsOf(name)) {
        expect(id).toMatch(/^[1-9]\d*$/);
        expect(Number(id)).toBeLessThan(2 ** 31);
      }
    }),
  );
});
