import { run } from './run.ts';

const {
  FULL_PROOF,
  SEED = '1',
  STEPS = FULL_PROOF ? '100000' : '10000',
  MIGRATIONS = '[]',
} = process.env;
const migrations: string[] = JSON.parse(MIGRATIONS);
const stepsOfRun = 2500;

it(`whatever happens in whatever order, in ${STEPS} steps from seed ${SEED}, promises are kept`, async () => {
  let [seed, total] = [Number(SEED) - 1, 0];
  let last = { steps: 0, fingerprint: 0 };
  while (total < Number(STEPS)) {
    last = await run(++seed, stepsOfRun, migrations);
    total += last.steps;
  }
  // Each seed does the same by itself.
  vi.resetModules();
  const { run: again } = await import('./run.ts');
  expect(await again(seed, stepsOfRun, migrations)).toEqual(last);
});
