import { waitInWords } from '#src/texts/words.ts';

it.each([
  [9.8, '9.8 ms'],
  [210, '0.21 s'],
  [250_000, '4.2 min'],
  [46_800_000, '13 h'],
  [Number.POSITIVE_INFINITY, 'never'],
])('a wait of %d ms is %s in words', (ms, words) => expect(waitInWords(ms)).toBe(words));
