import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Chart } from '../../../src/portal/ui/chart.tsx';

const series = [
  { name: 'Delivered', look: 'fill-main' },
  { name: 'Failed', look: 'fill-bad' },
] as const;
const draw = (columns: { name: string; values: number[]; before?: number }[]) =>
  String(Chart({ id: 'c', summary: 'Deliveries', series: [...series], columns }));

it('columns stay within the chart, whatever their values, and parts are as high as their share of the axis', () => {
  const column = fc.record({
    name: fc.constantFrom('Nov 1', 'Nov 2'),
    values: fc.tuple(fc.nat(1e6), fc.nat(1e6)),
  });
  fc.assert(
    fc.property(fc.array(column, { minLength: 1, maxLength: 60 }), (columns) => {
      const rects = [...draw(columns).matchAll(/<rect class="fill-\w+" .*?y="([\d.]+)" height="([\d.]+)"/g)];
      const shown = columns.flatMap(({ values }) => values);
      for (const [, y, height] of rects) {
        expect(Number(y)).toBeGreaterThanOrEqual(8);
        expect(Number(y) + Number(height)).toBeLessThanOrEqual(176.01);
      }
      expect(rects.length).toBeLessThanOrEqual(shown.filter((value) => value > 0).length);
    }),
    { numRuns: 50 },
  );
});

it('each column has its numbers as a title and in the table, and the axis ends at or above the highest', () => {
  const html = draw([
    { name: 'Nov 1', values: [30, 2], before: 41 },
    { name: 'Nov 2', values: [0, 0] },
  ]);
  expect(html).toContain('<title>Nov 1: 30 delivered, 2 failed; 41 before</title>');
  expect(html).toMatch(/<td>Nov 1<\/td><td class="num">30<\/td><td class="num">2<\/td>/);
  expect(html.match(/<text class="y"[^>]*>([^<]+)/g)?.at(-1)).toContain('60');
});
