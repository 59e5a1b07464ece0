/** Files that `npm run proof` runs, and `npm test` does not. */
export const proofs = 'test/**/*.proof.test.ts';

/** Files that set the clock, by which the Worker remembers things: they share a Worker with each other alone. */
const clock = 'test/**/*.clock.test.ts';
const simulation = 'test/simulation/*.test.ts';
const node = 'test/{cli,docs/contract,docs/pages,journey,browser,structure}/**/*.test.ts';

/** Which files each project runs when Vitest is started by an npm script; by hand, any. */
export function partsOf(script: string | undefined) {
  const left = script === 'test' ? [proofs] : [];
  return {
    worker: { include: ['test/**/*.test.ts'], exclude: [clock, simulation, node, ...left] },
    clock: { include: [clock], exclude: left },
    simulation: { include: [simulation], exclude: left },
    node: { include: [node], exclude: left },
  };
}
