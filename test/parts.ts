/** Files that `npm run proof` runs, and `npm test` does not. */
export const proofs = 'test/**/*.proof.test.ts';

/** Files that set the clock, which new ids remember: each has a Worker of its own. */
const alone = 'test/**/*.clock.test.ts';
const simulation = 'test/simulation/*.test.ts';
const node = 'test/{cli,docs/contract,docs/pages,journey,browser,structure}/**/*.test.ts';

/** Which files each project runs when Vitest is started by an npm script; by hand, any. */
export function partsOf(script: string | undefined) {
  const left = script === 'test' ? [proofs] : [];
  return {
    worker: { include: ['test/**/*.test.ts'], exclude: [alone, simulation, node, ...left] },
    alone: { include: [alone], exclude: left },
    simulation: { include: [simulation], exclude: left },
    node: { include: [node], exclude: left },
  };
}
