import { Chart } from '#src/ui/chart.tsx';

const series = [
  { name: 'Delivered', look: 'fill-main' },
  { name: 'Failed', look: 'fill-bad' },
] as const;
it('each column has its numbers as a title and in the table, and fits the axis', () => {
  const columns = [
    { name: 'Nov 1', values: [30, 2], before: 41 },
    { name: 'Nov 2', values: [0, 0] },
  ];
  const html = String(Chart({ summary: 'Deliveries', series: [...series], columns }));
  expect(html).toContain('<title>Nov 1: 30 delivered, 2 failed; 41 before</title>');
  const cells = html.replaceAll(/<\/?span[^>]*>/g, '');
  expect(cells).toContain('<td>Nov 1</td><td class="num">30</td><td class="num">2</td>');
  expect(html.match(/<text class="y"[^>]*>([^<]+)/g)?.at(-1)).toContain('60');
});
