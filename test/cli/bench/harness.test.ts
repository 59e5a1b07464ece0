import { compare } from '../../../src/cli/bench/harness.ts';

const met = async (...ratios: number[]) => {
  const left = [1, ...ratios]; // the first is to warm up
  const service = async () => left.shift() ?? Number.NaN;
  const measure = { what: 'calls', unit: 'calls/s', atLeast: 0.8 };
  return (await compare(measure, ratios.length, { bare: async () => 1, service })).met;
};

it('a row is decided if its ratios are closer to each other than to the bar', async () => {
  expect(await met(0.9, 0.95, 0.98, 0.97, 9)).toBe(true);
  expect(await met(0.6, 0.65, 0.7, 0.66, 9)).toBe(false);
  expect(await met(0.7, 0.85, 0.98, 0.75, 0.96)).toBe('not decided');
});
