import { isIdentifier, isNothing, withoutInvisible } from '#src/core/fleet/lists/nothing.ts';

it.each(
  [
    '',
    ' ',
    '-',
    '--',
    '?',
    '...',
    '\u200b',
    'null',
    'NULL',
    '(null)',
    '<null>',
    'nil',
    'None',
    'NaN',
    '-nan',
  ].concat(
    [
      'undefined',
      'n/a',
      '#N/A',
      '<NA>',
      '\\N',
      '#REF!',
      '#VALUE!',
      '#NAME?',
      '#DIV/0!',
      '#NUM!',
      '#SPILL!',
    ],
    ['[object Object]', 'nu\u200bll', '\ufeffNaN', 'Nothing'],
  ),
)('%j is what programs write for nothing', (text) => {
  expect([isNothing(text), isIdentifier(text)]).toEqual([true, false]);
});

it.each([
  '0',
  '7',
  '#7',
  '#12!a',
  'NA',
  'na',
  'Nan Li',
  'Null Island',
  '🚚',
  '渋谷',
  'N',
  '1E5',
  '5e-10',
  '−1',
  'No 1',
])('%j is something', (text) => {
  expect([isNothing(text), isIdentifier(text)]).toEqual([false, true]);
});

it.each(['2.81475E+14', '2,81475e+14', '1E+21', '1.2e+5'])(
  '%j is a number that has lost digits',
  (text) => {
    expect([isNothing(text), isIdentifier(text)]).toEqual([false, false]);
  },
);

it('what nobody sees of a text is left out of it, wherever it is', () => {
  const unseen =
    '\u00ad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2066\u2069\ufe0f\ufeff';
  for (const character of unseen)
    for (const text of [
      `${character}a b`,
      `a${character} b`,
      `a b${character}`,
      ` ${character}a b`,
    ])
      expect(withoutInvisible(text)).toBe('a b');
});
