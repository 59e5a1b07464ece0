import { perEvent } from '../per-event.ts';
import { table } from './blocks.ts';

const planPrice = 5;

/** Cloudflare's prices per million beyond the millions that the plan includes in a month. */
const prices = [
  { of: 'requests', count: perEvent.requests, price: 0.3, included: 10 },
  { of: 'CPU ms', count: perEvent.cpuMs, price: 0.02, included: 30 },
  { of: 'D1 rows written', count: perEvent.rowsWrittenInLife, price: 1, included: 50 },
  { of: 'D1 rows read', count: perEvent.rowsRead, price: 0.001, included: 25_000 },
  { of: 'log lines', count: perEvent.logLines, price: 0.6, included: 20 },
  { of: 'Analytics Engine points', count: perEvent.points, price: 0.25, included: 10 },
];

/** What D1 stores by default: events of 180 days, and deliveries of 30. */
const gigabytes = (daily: number): number =>
  (daily * (180 * perEvent.bytesStored + 30 * perEvent.bytesDelivered)) / 1e9;

const beyond = (amount: number, included: number, price: number): number =>
  Math.max(0, amount - included) * price;

/** What a month of 30 days costs with so many events a day, by what is paid for. */
const costsOf = (daily: number): [what: string, dollars: number][] => [
  ...prices.map(({ of, count, price, included }): [string, number] => [
    `${of}, $${price}/M beyond ${included.toLocaleString('en-US')} M`,
    beyond((daily * 30 * count) / 1e6, included, price),
  ]),
  ['D1 storage, $0.75/GB beyond 5 GB', beyond(gigabytes(daily), 5, 0.75)],
];

const volumes = [10_000, 100_000, 1_000_000, 10_000_000];

const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 });
const dollars = (amount: number): string => (amount < 0.5 ? '–' : `$${number(amount)}`);

/** What a month costs at some volumes, with the plan, and what each further million events costs. */
export function costTable(): string {
  const columns = volumes.map(costsOf);
  const totals = columns.map((costs) => costs.reduce((sum, [, cost]) => sum + cost, planPrice));
  const perMillion = prices.reduce((sum, { count, price }) => sum + count * price, 0);
  const rows = [
    ['**a month, with the plan**', ...totals.map((total) => `**${dollars(total)}**`)],
    ...costsOf(0).map(([what], at) => [what, ...columns.map((costs) => dollars(costs[at]?.[1] ?? 0))]),
    ['GB in D1', ...volumes.map((daily) => number(gigabytes(daily)))],
  ];
  return `${table(['Events a day', ...volumes.map(number)], rows)}

Each further million events costs some ${dollars(perMillion)}.`;
}
