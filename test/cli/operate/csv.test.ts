import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvHead, csvLines, flatColumns } from '../../../src/fleet/lists/csv.ts';

describe('CSV', () => {
  const columns = flatColumns({
    a: { holds: 'text', nullable: false },
    b: { holds: ['text'], nullable: false },
    c: { holds: { latitude: 'number' }, nullable: true },
    d: { holds: 'boolean', nullable: false },
  });

  it('gives back what was written, but for formulas, whatever the text is', () => {
    const safe = fc.string({ unit: 'binary' }).filter((text) => !/(^|;"*)[=+\-@\t\r＝＋－＠]/.test(text));
    fc.assert(
      fc.property(fc.array(fc.record({ a: safe, d: fc.boolean() }), { minLength: 1 }), (items) => {
        const lines: string[][] = parse(csvHead(columns) + csvLines(columns, items));
        expect(lines).toEqual([
          ['a', 'b', 'c.latitude', 'd'],
          ...items.map(({ a, d }) => [a, '', '', String(d)]),
        ]);
      }),
    );
  });

  it.each(['=1+1', '+1 303 555', '-2', '@SUM(A1)', '\t=1', '\r=1', '＝1'])('has no formula: %j', (text) => {
    const lines: string[][] = parse(csvLines(columns, [{ a: text, c: { latitude: -2.5 } }]));
    expect(lines).toEqual([[`'${text}`, '', '-2.5', '']]);
  });

  it.each(['a;=1+1', 'a;"=1+1', ';-2;+3'])('has no formula after a semicolon: %j', (text) => {
    const [[cell = ''] = []]: string[][] = parse(csvLines(columns, [{ a: text }]));
    expect(cell.replaceAll("'", '')).toBe(text);
    expect(cell).not.toMatch(/;"*[=+-]/);
  });
});
