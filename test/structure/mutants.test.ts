import { isNoticed, mutants, occurrences } from './mutants.ts';

/** Which of them every run breaks, by file; `npm run proof -- --mutants` breaks them all. */
const quick = [
  'accounts/tokens/service.ts',
  'db/cursor.ts',
  'platform/address.ts',
  'deliveries/policy.ts',
  'notifications/pass.ts',
];

it('each mutant breaks a rule that is there, once', () => {
  expect(mutants.filter((mutant) => occurrences(mutant) !== 1)).toEqual([]);
});

it.each(
  process.env.FULL_PROOF
    ? mutants
    : quick.flatMap((file) => mutants.find((mutant) => mutant.file.endsWith(file)) ?? []),
)('$test notices that $file lacks $from', (mutant) => {
  expect(isNoticed(mutant)).toBe(true);
});
