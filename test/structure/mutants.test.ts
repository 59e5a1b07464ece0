import { mutants, occurrences } from './mutants.ts';

it('each mutant breaks a rule that is there, once', () => {
  expect(mutants.filter((mutant) => occurrences(mutant) !== 1)).toEqual([]);
});
