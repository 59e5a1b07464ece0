import fc from 'fast-check';
import { keyOf, maxWords, searchKeys } from '#src/core/fleet/lists/search-keys.ts';

const finds = (typed: string, ...of: Parameters<typeof searchKeys>) =>
  searchKeys(...of).some((key) => key.startsWith(keyOf(typed)));

describe('a name is found', () => {
  it.each([
    ['Jane Doe', 'doe | JANE | jane d | Doe, Jane | doe j | janedoe'],
    ['Doe, Jane', 'Jane Doe | jane | doe'],
    ['Éva Szabó', 'éva | eva | EVA | Éva | szabo | E\u0301va'],
    ['Jürgen Müller', 'MULLER | müller | Mu\u0308ller | jurgen m'],
    ['Sean O’Brien', "O'Brien | O`Brien | Oʼbrien | OʻBrien | OBRIEN | brien"],
    ['Weißß Straße', 'weissss | STRASSE | straße | STRAẞE'],
    ['Łukasz Ødegård', 'lukasz | odegard | ØDEGÅRD'],
    ['김철수', '김 | 김철'],
    ['İpek Işık', 'ipek | isik | IŞIK'],
    ['Сергей Ёлкин', 'сергей | елкин | ЁЛКИН'],
    ['TRK-0042', '0042 | trk0042 | TRK 0042 | trk_0042'],
    ['ＡＢＣ　１２', 'abc | 12'],
    ['🚚', '🚚'],
  ])('%s, as %s', (name, all) => {
    for (const typed of all.split(' | '))
      expect([typed, finds(typed, name)]).toEqual([typed, true]);
  });

  it('by its plate as well, with or without separators', () => {
    for (const typed of ['ABC1234', 'abc-1234', 'ABC 1234', 'abc1', 'Truck', '7'])
      expect(finds(typed, 'Truck 7', 'ABC-1234')).toBe(true);
    for (const typed of ['1234', 'b', 'ruck'])
      expect(finds(typed, 'Truck 7', 'ABC-1234')).toBe(false);
  });
});

it.each([
  ['numbers as people count', 'Truck 1 < Truck 2 < truck 10 < Truck 100 A < Truck 1000'],
  ['numbers with leading zeros', '007 < 8 < 0010 < 11'],
  ['several numbers', '1-2 < 1-10 < 2-1 < 12 < 12 b'],
  ['numbers of the same word', 'A2B1 < a2b10 < A10B1'],
  ['no number before any', 'Truck < Truck 0 < Truck 3 < Truck A'],
  ['long numbers', `${'9'.repeat(30)} < 1${'0'.repeat(30)} < ${'9'.repeat(32)} < a`],
])('names are ordered with %s', (_, ordered) => {
  const names = ordered.split(' < ');
  const first = (name: string) => searchKeys(name)[0] ?? '';
  const byKey = (a: string, b: string) => (first(a) < first(b) ? -1 : 1);
  expect(names.toReversed().sort(byKey)).toEqual(names);
});

it('the order of numbers finds no name by other digits than its own', () => {
  for (const typed of ['1', '17', '1 7', '07']) expect(finds(typed, '7')).toBe(false);
});

describe('whatever a name is', () => {
  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });

  it('it is found by itself, and by each of its first words', () => {
    fc.assert(
      fc.property(text, (name) => {
        expect(finds(name, name)).toBe(true);
        expect(finds(name.toUpperCase().toLowerCase(), name)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-zà-öø-ÿ]{1,9}$/), { minLength: 1, maxLength: 9 }),
        (words) => {
          for (const word of words.slice(0, maxWords))
            expect(finds(word, words.join(' '))).toBe(true);
        },
      ),
    );
  });

  it('it has few keys, all different, of at most 64 characters', () => {
    fc.assert(
      fc.property(text, text, (name, plate) => {
        const [first = '', ...further] = searchKeys(name, plate);
        expect(further.length).toBeLessThanOrEqual(maxWords + 1);
        expect(new Set(further).size).toBe(further.length);
        for (const key of [first, ...further]) {
          expect([...key].length).toBeLessThanOrEqual(64);
          expect(key.isWellFormed()).toBe(true);
        }
      }),
    );
  });
});
