import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { Columns } from '#src/core/fleet/lists/field.ts';
import { csvWriter } from '#src/texts/csv.ts';

const columns = {
  a: { holds: 'text', nullable: false },
  b: { holds: ['text'], nullable: false },
  c: { holds: { latitude: 'number' }, nullable: true },
  d: { holds: 'boolean', nullable: false },
} as const satisfies Columns;
const linesOf = (items: object[], begun = true): string[][] =>
  parse(new TextDecoder().decode(csvWriter(columns, { begun }).add(items)));

it('CSV gives back what was written, but for formulas, whatever the text is', () => {
  const safe = fc
    .string({ unit: 'binary' })
    .filter((text) => !/(^|;"*)[=+\-@\t\r＝＋－＠]/.test(text));
  fc.assert(
    fc.property(fc.array(fc.record({ a: safe, d: fc.boolean() }), { minLength: 1 }), (items) => {
      expect(linesOf(items, false)).toEqual([
        ['a', 'b', 'c.latitude', 'd'],
        ...items.map(({ a, d }) => [a, '', '', String(d)]),
      ]);
    }),
  );
});

it.each(['=1+1', '+1 303 555', '-2', '@SUM(A1)', '\t=1', '\r=1', '＝1'])(
  'CSV has no formula: %j',
  (text) => {
    expect(linesOf([{ a: text, c: { latitude: -2.5 } }])).toEqual([[`'${text}`, '', '-2.5', '']]);
  },
);

it.each(['a;=1+1', 'a;"=1+1', ';-2;+3'])('CSV has no formula after a semicolon: %j', (text) => {
  const [[cell = ''] = []] = linesOf([{ a: text }]);
  expect(cell.replaceAll("'", '')).toBe(text);
  expect(cell).not.toMatch(/;"*[=+-]/);
});
