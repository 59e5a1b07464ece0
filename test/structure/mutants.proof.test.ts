// @module-tag proof
// More than 15 s: each mutant is a run of its own.
import { isNoticed, mutants } from './mutants.ts';

/** How many a run breaks: each day others, so that all have been in some days. */
const sample = process.env.FULL_PROOF ? mutants.length : 12;
const apart = Math.ceil(mutants.length / sample);
const today = Math.floor(Date.now() / 86_400_000);

it.each(mutants.filter((_, at) => (at + today) % apart === 0))(
  '$test notices that $file lacks $from',
  (mutant) => {
    expect(isNoticed(mutant)).toBe(true);
  },
);
