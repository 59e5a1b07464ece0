// @module-tag proof
// More than 15 s: many steps.
import { run } from './run.ts';

const {
  FULL_PROOF,
  SEED = '1',
  STEPS = FULL_PROOF ? '100000' : '50000',
  MIGRATIONS = '[]',
} = process.env;
const migrations: string[] = JSON.parse(MIGRATIONS);

it(`whatever happens in whatever order, in ${STEPS} steps from seed ${SEED}, promises are kept`, async () => {
  let [seed, total] = [Number(SEED) - 1, 0];
  while (total < Number(STEPS)) total += (await run(++seed, 2500, migrations)).steps;
});
