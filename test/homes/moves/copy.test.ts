import { expect, it } from 'vitest';
import { jsonArrays } from '../../../src/homes/moves/copy.ts';

it('cuts what it copies by bytes: a parameter of D1 has at most 2 MB, whatever the letters', () => {
  const values = Array.from({ length: 10 }, (_, i) => `${i}${'漢'.repeat(150_000)}`);
  const arrays = jsonArrays(values);
  for (const array of arrays) expect(new TextEncoder().encode(array).byteLength).toBeLessThan(2_000_000);
  expect(arrays.flatMap((array) => JSON.parse(array))).toEqual(values);
});
