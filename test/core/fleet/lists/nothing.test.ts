import { isIdentifier, isNothing, withoutInvisible } from '#src/core/fleet/lists/nothing.ts';

it.each([
  ...'-- ? ... NULL (null) <null> nil None NaN -nan undefined n/a Nothing'.split(' '),
  ...'#N/A <NA> \\N #REF! #DIV/0! #SPILL! nu\u200bll \ufeffNaN \u200b'.split(' '),
  ...['', ' ', '[object Object]'],
])('%j is what programs write for nothing', (text) => {
  expect([isNothing(text), isIdentifier(text)]).toEqual([true, false]);
});

it.each([...'0 #7 #12!a NA na 🚚 渋谷 N 1E5 5e-10 −1'.split(' '), ...['Nan Li', 'Null Island']])(
  '%j is something',
  (text) => {
    expect([isNothing(text), isIdentifier(text)]).toEqual([false, true]);
  },
);

it.each(['2.81475E+14', '2,81475e+14', '1E+21'])('%j is a number that has lost digits', (text) => {
  expect([isNothing(text), isIdentifier(text)]).toEqual([false, false]);
});

it('what nobody sees of a text is left out of it, wherever it is', () => {
  const unseen =
    '\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufe0f\ufeff';
  for (const character of unseen)
    for (const text of [` ${character}a b`, `a${character} b`, `a b${character}`])
      expect(withoutInvisible(text)).toBe('a b');
});
